import { type Html, html, inWords } from "../pages/html.ts";
import { nameOf, type Shape } from "./document.ts";

/** The members of a shape, one per line, nested members below. */
export function members(shape: Shape): Html | "" {
  const ways = shape.oneOf ?? (shape.anyOf && withoutNull(shape.anyOf).length > 1 ? shape.anyOf : undefined);
  if (ways?.some(({ properties }) => properties))
    return html`<ul class="members">${ways.map((way, at) => html`<li><em>${at === 0 ? "Either" : "or"}</em>${members(way)}</li>`)}</ul>`;
  const inside = shape.items ?? (shape.anyOf && withoutNull(shape.anyOf)[0]);
  if (!shape.properties) return inside ? members(inside) : "";
  const entries = Object.entries(shape.properties).map(([name, member]) => {
    const isRequired = shape.required?.includes(name);
    const note = isRequired ? "" : html` <span class="quiet">optional</span>`;
    const said = member.description ? html`<p>${inWords(member.description)}</p>` : "";
    return html`<li><code class="name">${name}</code> ${typeOf(member)}${note}${said}${members(member)}</li>`;
  });
  return html`<ul class="members">${entries}</ul>`;
}

/** The type in words; a named shape is a link. */
export function typeOf(shape: Shape): Html {
  if (shape.$ref) {
    const name = nameOf(shape);
    return html`<a href="#shape-${name}">${name}</a>`;
  }
  if (shape.const !== undefined) return html`<code>${JSON.stringify(shape.const)}</code>`;
  if (shape.enum)
    return html`${shape.enum.map((value, at) => html`${at ? " or " : ""}<code>${JSON.stringify(value)}</code>`)}`;
  const ways = shape.anyOf ?? shape.oneOf;
  if (ways?.some(({ properties }) => properties) && withoutNull(ways).length > 1) return html`one of these`;
  if (ways) {
    const isNullable = ways.length > withoutNull(ways).length;
    const told = withoutNull(ways).map((way, at) => html`${at ? " or " : ""}${typeOf(way)}`);
    return html`${told}${isNullable ? " or null" : ""}`;
  }
  if (shape.items) return html`list of ${typeOf(shape.items)}${bounds(shape.minItems, shape.maxItems, "")}`;
  const type = [shape.type ?? "anything"].flat().join(" or ");
  const format = shape.format ? ` (${shape.format})` : "";
  const length = bounds(shape.minLength, shape.maxLength, " characters");
  return html`${type}${format}${length}${bounds(shape.minimum, shape.maximum, "")}`;
}

const withoutNull = (ways: Shape[]): Shape[] => ways.filter(({ type }) => type !== "null");

function bounds(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return "";
  if (least === undefined) return `, at most ${most}${unit}`;
  if (most === undefined) return `, at least ${least}${unit}`;
  return `, ${least} to ${most}${unit}`;
}
