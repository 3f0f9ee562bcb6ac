import type { Type, TypeMember } from "./contract-types.ts";

/** Writes types as TypeScript, laid out as the formatter lays them out. */

/** `extended`: the declaration to which this one adds members. */
export type Declaration = { name: string; comment: string; type: Type; extended?: string };

const LINE_WIDTH = 110;

/** Declares each type once. A type that contains a declared type has its name there. */
export function declare(given: Declaration[]): string {
  const bySpelling = new Map(given.map((declaration) => [spell(declaration.type), declaration]));
  const nameOf = (type: Type) => bySpelling.get(spell(type))?.name;
  /** A member whose type is declared does not repeat the comment of that type. */
  const isRepeated = (type: Type) => type.description === bySpelling.get(spell(type))?.type.description;
  const declarations = given.map((each) => ({ ...each, type: withoutComments(each.type, isRepeated) }));
  const declarationOf = ({ name, comment, type, extended }: Declaration) => {
    const base = declarations.find((each) => each.name === extended);
    const text = layOut(base ? added(type, base.type) : type, `export type ${name} = `, "", nameOf);
    const inherited = base ? `${base.name} & ` : "";
    return `${commentOf(type.description ?? comment, "")}export type ${name} = ${inherited}${text};\n`;
  };
  return declarations.map(declarationOf).join("\n");
}

function withoutComments(type: Type, isRepeated: (type: Type) => boolean): Type {
  if (type.kind === "list" || type.kind === "record")
    return { ...type, of: withoutComments(type.of, isRepeated) };
  if (type.kind === "union") return { ...type, of: type.of.map((each) => withoutComments(each, isRepeated)) };
  if (type.kind === "text") return type;
  const members = type.members.map((member) => {
    const inner = withoutComments(member.type, isRepeated);
    return { ...member, type: isRepeated(inner) ? { ...inner, description: undefined } : inner };
  });
  return { ...type, members };
}

/** The members of a type that its base has not, or has as optional members. */
function added(type: Type, base: Type): Type {
  if (type.kind !== "object" || base.kind !== "object") throw new Error("Only an object extends another.");
  const lineOf = (member: TypeMember) => spellMember(member, () => undefined);
  const inherited = new Set(base.members.map(lineOf));
  return { ...type, members: type.members.filter((member) => !inherited.has(lineOf(member))) };
}

type NameOf = (type: Type) => string | undefined;

/** The type on one line. */
function spell(type: Type, nameOf: NameOf = () => undefined): string {
  const inner = (each: Type) => nameOf(each) ?? spell(each, nameOf);
  if (type.kind === "text") return type.text;
  if (type.kind === "record") return `Record<string, ${inner(type.of)}>`;
  if (type.kind === "union") return type.of.map(inner).join(" | ");
  if (type.kind === "list")
    return `${inParentheses(type.of, nameOf) ? `(${inner(type.of)})` : inner(type.of)}[]`;
  const members = type.members.map((member) => spellMember(member, nameOf));
  return `{ ${[...indexOf(type.open), ...members].join("; ")} }`;
}

const inParentheses = (type: Type, nameOf: NameOf): boolean => type.kind === "union" && !nameOf(type);

function spellMember({ name, optional, type }: TypeMember, nameOf: NameOf): string {
  const text = nameOf(type) ?? spell(type, nameOf);
  return `${memberName(name)}${optional ? "?" : ""}: ${text}${optional ? " | undefined" : ""}`;
}

const indexOf = (isOpen: boolean): string[] => (isOpen ? ["[member: string]: unknown"] : []);

const memberName = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));

/** The type on one line if it fits after `before`, else on several. */
function layOut(type: Type, before: string, indent: string, nameOf: NameOf): string {
  const line = spell(type, nameOf);
  const isShort = `${indent}${before}${line};`.length <= LINE_WIDTH;
  if (isShort && !hasComments(type, nameOf)) return line;
  if (type.kind === "object") return layOutObject(type, indent, nameOf);
  if (type.kind === "list") return `${layOut(type.of, before, indent, nameOf)}[]`;
  if (type.kind === "union") return layOutUnion(type.of, indent, nameOf);
  return line;
}

function layOutObject({ members, open }: Type & { kind: "object" }, indent: string, nameOf: NameOf): string {
  const inner = `${indent}  `;
  const lines = members.map(({ name, optional, type }) => {
    const before = `${memberName(name)}${optional ? "?" : ""}: `;
    const whole: Type = optional ? { kind: "union", of: [...alternativesOf(type, nameOf), UNDEFINED] } : type;
    const text = nameOf(whole) ?? layOut(whole, before, inner, nameOf);
    return `${commentOf(type.description, inner)}${inner}${before}${text};`.replace(/: \n/, ":\n");
  });
  return `{\n${[...indexOf(open).map((text) => `${inner}${text};`), ...lines].join("\n")}\n${indent}}`;
}

const UNDEFINED: Type = { kind: "text", text: "undefined" };

const alternativesOf = (type: Type, nameOf: NameOf): Type[] =>
  type.kind === "union" && !nameOf(type) ? type.of : [type];

/** An object beside `null` alone stays on the line of its member; other alternatives have a line each. */
function layOutUnion(types: Type[], indent: string, nameOf: NameOf): string {
  const [first, second, ...others] = types;
  if (first?.kind === "object" && spell(second ?? first) === "null" && others.length === 0)
    return `${layOut(first, "", indent, nameOf)} | null`;
  const lines = types.map(
    (type) => `${indent}  | ${nameOf(type) ?? layOut(type, "| ", `${indent}    `, nameOf)}`,
  );
  return `\n${lines.join("\n")}`;
}

const hasComments = (type: Type, nameOf: NameOf): boolean => {
  if (type.kind === "text") return false;
  if (type.kind === "union") return type.of.some((each) => !nameOf(each) && hasComments(each, nameOf));
  if (type.kind !== "object") return !nameOf(type.of) && hasComments(type.of, nameOf);
  return type.members.some(
    ({ type: of }) => of.description !== undefined || (!nameOf(of) && hasComments(of, nameOf)),
  );
};

/** A comment on one line, or on as many as it needs. */
function commentOf(text: string | undefined, indent: string): string {
  if (text === undefined) return "";
  const sentence = /[.!?…]$/.test(text) ? text : `${text}.`;
  const line = `${indent}/** ${sentence} */\n`;
  if (line.length <= LINE_WIDTH) return line;
  const lines: string[] = [];
  for (const word of sentence.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && `${indent} * ${last} ${word}`.length <= LINE_WIDTH)
      lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return [`${indent}/**`, ...lines.map((each) => `${indent} * ${each}`), `${indent} */`, ""].join("\n");
}
