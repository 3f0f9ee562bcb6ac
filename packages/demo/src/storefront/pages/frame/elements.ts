/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** Creates and finds elements. Text is always set as text, never parsed as HTML. */

type Child = Node | string | undefined;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string>,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** An element that must be in the page's HTML. */
export function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

export const button = (label: string, look: string, act: () => void): HTMLButtonElement => {
  const made = element("button", { type: "button", class: look }, label);
  made.addEventListener("click", act);
  return made;
};

export const link = (label: string, look: string, href: string): HTMLAnchorElement =>
  element("a", { class: look, href }, label);

/** Shows one of several parts of the page, and focuses its heading for screen readers. */
export function showOnly(id: string, among: readonly string[]): void {
  for (const each of among) part(each).hidden = each !== id;
  part(id).querySelector<HTMLElement>("h1[tabindex]")?.focus({ preventScroll: true });
}
