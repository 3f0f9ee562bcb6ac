/** Finds the route of a path by its segments. A literal segment wins over a parameter. */
type Paths<T> = {
  /** `andBelow`: the route also serves every path below that has no route of its own. */
  add(pattern: string, value: T, andBelow?: boolean): void;
  find(path: string): Found<T> | undefined;
};

type Found<T> = { value: T; parameters: Record<string, string>; isBelow: boolean };

type Segment<T> = {
  literals: Map<string, Segment<T>>;
  parameter: Segment<T> | undefined;
  /** The parameter names of each path, in order, because two paths may name the same segment differently. */
  end: { value: T; names: string[] } | undefined;
  below: T | undefined;
};

const newSegment = <T>(): Segment<T> => ({
  literals: new Map(),
  parameter: undefined,
  end: undefined,
  below: undefined,
});

export function createPaths<T>(): Paths<T> {
  const root = newSegment<T>();
  /** Paths without parameters are found in one lookup. */
  const literals = new Map<string, Found<T>>();
  return {
    add(pattern, value, andBelow = false) {
      const names: string[] = [];
      let at = root;
      for (const part of pattern.split("/")) {
        const name = /^\{(\w+)\}$/.exec(part)?.[1];
        if (name === undefined) {
          const next = at.literals.get(part) ?? newSegment<T>();
          at.literals.set(part, next);
          at = next;
        } else {
          names.push(name);
          at.parameter ??= newSegment<T>();
          at = at.parameter;
        }
      }
      at.end = { value, names };
      if (names.length === 0) literals.set(pattern, { value, parameters: {}, isBelow: false });
      if (andBelow) at.below = value;
    },
    find(path) {
      const literal = literals.get(path);
      if (literal) return literal;
      const values: string[] = [];
      let at: Segment<T> | undefined = root;
      let below: T | undefined;
      for (const part of path.split("/")) {
        below = at.below ?? below;
        const next: Segment<T> | undefined = at.literals.get(part);
        if (!next) values.push(part);
        at = next ?? (part === "" ? undefined : at.parameter);
        if (!at) break;
      }
      if (!at?.end) return below && { value: below, parameters: {}, isBelow: true };
      const parameters: Record<string, string> = {};
      for (const [index, name] of at.end.names.entries()) parameters[name] = values[index] as string;
      return { value: at.end.value, parameters, isBelow: false };
    },
  };
}
