/**
 * Finds the promises of one OpenAPI document that another one breaks. Within /v2 changes only add: new operations, new
 * members, new optional parameters and new values in answers break nothing.
 */

type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  maxLength?: number;
  maxItems?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  minimum?: number;
  pattern?: string;
};
type Content = Record<string, { schema?: Schema }>;
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Described = {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { headers?: Record<string, { required?: boolean }>; content?: Content }>;
};
export type Document = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};

/** Each is one line: the place, and the broken promise. */
export function breakagesOf(before: Document, after: Document): string[] {
  const was = createSide(before);
  const is = createSide(after);
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const at = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      return now ? brokenIn(at, [was, described], [is, now]) : [`${at}: is gone`];
    }),
  );
}

/** A document with its references resolved. */
type Side = { shapesOf(schema: Schema): Schema[] };
type Of = [side: Side, described: Described];

function createSide({ components: { schemas } }: Document): Side {
  /** The shapes of a value: a single one, unless the document lists several. */
  function shapesOf(schema: Schema): Schema[] {
    const named = schema.$ref && schemas[schema.$ref.replace("#/components/schemas/", "")];
    if (named) return shapesOf(named);
    const several = schema.anyOf ?? schema.oneOf;
    if (several) return several.flatMap(shapesOf);
    return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];
  }
  return { shapesOf };
}

function brokenIn(at: string, [was, before]: Of, [is, after]: Of): string[] {
  const taken = (where: string, wide: Schema, narrow: Schema) =>
    noLongerTaken(where, [was, wide], [is, narrow]);
  const parameters = (before.parameters ?? []).flatMap((parameter) => {
    const now = after.parameters?.find(
      ({ name, in: place }) => name === parameter.name && place === parameter.in,
    );
    return now
      ? taken(`${at} ?${parameter.name}`, parameter.schema, now.schema)
      : [`${at} ?${parameter.name}: is gone`];
  });
  const wasRequired = new Set(before.parameters?.flatMap(({ name, required }) => (required ? [name] : [])));
  const required = (after.parameters ?? [])
    .filter((parameter) => parameter.required && !wasRequired.has(parameter.name))
    .map(({ name }) => `${at} ?${name}: is required now`);
  const isBodyRequired = after.requestBody?.required && !before.requestBody?.required;
  return [
    ...parameters,
    ...required,
    ...(isBodyRequired ? [`${at}: needs a body now`] : []),
    ...inContents(`${at} takes`, before.requestBody?.content, after.requestBody?.content, taken),
    ...brokenAnswers(at, [was, before], [is, after]),
  ];
}

function inContents(
  at: string,
  before: Content | undefined,
  after: Content | undefined,
  compare: (at: string, before: Schema, after: Schema) => string[],
): string[] {
  return Object.entries(before ?? {}).flatMap(([mediaType, { schema = {} }]) => {
    const now = after?.[mediaType];
    return now ? compare(at, schema, now.schema ?? {}) : [`${at}: ${mediaType} is gone`];
  });
}

/** Refusals may change where the request failed before; successful answers stay. */
function brokenAnswers(at: string, [was, before]: Of, [is, after]: Of): string[] {
  const good = Object.entries(before.responses).filter(([status]) => Number(status) < 400);
  return good.flatMap(([status, answer]) => {
    const now = after.responses[status];
    if (!now) return [`${at}: ${status} is gone`];
    const given = (where: string, wide: Schema, narrow: Schema) =>
      noLongerGiven(where, [was, wide], [is, narrow]);
    const fields = Object.entries(answer.headers ?? {}).filter(([, { required }]) => required);
    const gone = fields.filter(([name]) => !now.headers?.[name]?.required);
    return [
      ...gone.map(([name]) => `${at}: the field ${name} is not always there now`),
      ...inContents(`${at} answers`, answer.content, now.content, given),
    ];
  });
}

type Shaped = [side: Side, schema: Schema];

/** Requests: everything that was accepted still is. */
function noLongerTaken(at: string, [was, before]: Shaped, [is, after]: Shaped): string[] {
  const shapes = is.shapesOf(after);
  return was.shapesOf(before).flatMap((shape) => {
    const tries = shapes.map((now) => [
      ...(kindOf(shape) === kindOf(now) || now.type === undefined
        ? []
        : [`${at}: is no ${kindOf(shape)} any more`]),
      ...valuesOf(shape)
        .filter((value) => !mayBe(now, value))
        .map((value) => `${at}: ${value} is refused now`),
      ...(isOpen(shape) && !isOpen(now) ? [`${at}: takes only some values now`] : []),
      ...stricterIn(shape, now).map((bound) => `${at}: ${bound} is stricter now`),
      ...(now.required ?? [])
        .filter((name) => !shape.required?.includes(name))
        .map((name) => `${at}.${name}: is required now`),
      ...Object.entries(shape.properties ?? {}).flatMap(([name, member]) => {
        const same = now.properties?.[name];
        return same ? noLongerTaken(`${at}.${name}`, [was, member], [is, same]) : [`${at}.${name}: is gone`];
      }),
      ...(shape.items && now.items ? noLongerTaken(`${at}[]`, [was, shape.items], [is, now.items]) : []),
    ]);
    return fewest(tries);
  });
}

/** Answers: every member that was always there still is, with the same type. */
function noLongerGiven(at: string, [was, before]: Shaped, [is, after]: Shaped): string[] {
  const shapes = was.shapesOf(before);
  const isNew = is.shapesOf(after).filter((shape) => !shapes.some((one) => kindOf(one) === kindOf(shape)));
  const others = shapes.every(({ type }) => type === undefined) ? [] : isNew;
  return [
    ...others.map((shape) => `${at}: may be ${kindOf(shape)} now`),
    ...shapes.flatMap((shape) => {
      const tries = is.shapesOf(after).map((now) => [
        ...(kindOf(shape) === kindOf(now) ? [] : [`${at}: is no ${kindOf(shape)} any more`]),
        ...Object.entries(shape.properties ?? {}).flatMap(([name, member]) => {
          const same = now.properties?.[name];
          const isLess = shape.required?.includes(name) && !now.required?.includes(name);
          if (!same) return [`${at}.${name}: is gone`];
          const within = noLongerGiven(`${at}.${name}`, [was, member], [is, same]);
          return isLess ? [`${at}.${name}: is not always there now`, ...within] : within;
        }),
        ...(shape.items && now.items ? noLongerGiven(`${at}[]`, [was, shape.items], [is, now.items]) : []),
      ]);
      return fewest(tries);
    }),
  ];
}

/** Compares with the most similar of several shapes. */
const fewest = (tries: string[][]): string[] => tries.toSorted((a, b) => a.length - b.length)[0] ?? [];

const valuesOf = (shape: Schema): unknown[] => shape.enum ?? ("const" in shape ? [shape.const] : []);
const isOpen = (shape: Schema): boolean => valuesOf(shape).length === 0;
const mayBe = (shape: Schema, value: unknown): boolean => isOpen(shape) || valuesOf(shape).includes(value);
const kindOf = (shape: Schema): string => String(shape.type ?? typeof valuesOf(shape)[0]);

const STRICTER = {
  maxLength: (before = Number.POSITIVE_INFINITY, after = before) => after < before,
  maxItems: (before = Number.POSITIVE_INFINITY, after = before) => after < before,
  maximum: (before = Number.POSITIVE_INFINITY, after = before) => after < before,
  minLength: (before = 0, after = before) => after > before,
  minItems: (before = 0, after = before) => after > before,
  minimum: (before = Number.NEGATIVE_INFINITY, after = before) => after > before,
  // Two patterns cannot be compared.
  pattern: (before: string | undefined, after: string | undefined) =>
    before === undefined && after !== undefined,
};

function stricterIn(before: Schema, after: Schema): string[] {
  return Object.entries(STRICTER).flatMap(([bound, isStricter]) => {
    const [was, is] = [before, after].map((shape) => shape[bound as keyof typeof STRICTER]);
    return isStricter(was as never, is as never) ? [bound] : [];
  });
}
