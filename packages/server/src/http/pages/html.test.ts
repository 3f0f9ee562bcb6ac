import { describe, expect, test } from "vitest";
import { html, inWords, raw } from "./html.ts";

const text = (markup: { toString(): string }): string => markup.toString();

describe("html", () => {
  test("escapes & < > \" and ' in every value, and nothing of the template", () => {
    expect(text(html`<b>&amp;${`&<>"'`}</b>`)).toBe("<b>&amp;&amp;&lt;&gt;&quot;&#39;</b>");
  });

  test("a value cannot leave its attribute", () => {
    expect(text(html`<a href="${'" onclick="x()'}">`)).toBe('<a href="&quot; onclick=&quot;x()">');
  });

  test("markup of its own is not escaped a second time, at any depth", () => {
    const inner = html`<i>${"<"}</i>`;
    expect(text(html`<p>${html`<b>${inner}</b>`}</p>`)).toBe("<p><b><i>&lt;</i></b></p>");
  });

  test("text that looks like markup made here is escaped", () => {
    expect(text(html`${String(html`<i></i>`)}`)).toBe("&lt;i&gt;&lt;/i&gt;");
  });

  test("arrays are joined without a separator, nested ones too", () => {
    expect(text(html`<ul>${[html`<li>1</li>`, ["<", [html`<li>2</li>`]]]}</ul>`)).toBe(
      "<ul><li>1</li>&lt;<li>2</li></ul>",
    );
  });

  test.each([null, undefined, false, true, ""])("%j prints nothing", (value) => {
    expect(text(html`a${value}${[value]}b`)).toBe("ab");
  });

  test("numbers are printed, zero too", () => {
    expect(text(html`${0} ${12.5}`)).toBe("0 12.5");
  });

  test("`raw` passes its text as it is", () => {
    expect(text(html`<style>${raw("a > b { x: '&' }")}</style>`)).toBe("<style>a > b { x: '&' }</style>");
  });

  test("escapes of the template are read: \\n is a line break", () => {
    expect(text(html`a\n`)).toBe("a\n");
  });
});

test("inWords sets what is between backticks as code", () => {
  expect(text(html`${inWords("a `<b>` c")}`)).toBe("a <code>&lt;b&gt;</code> c");
});
