/** SVG pictures: rectangles, lines and text, with colours for a light and a dark page. */

export const WIDTH = 860;

const escapeText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

export const text = (x: number, y: number, words: string, style = "", anchor = "start"): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${style}" text-anchor="${anchor}">${escapeText(words)}</text>`;

export const line = (from: [x: number, y: number], to: [x: number, y: number], style: string): string =>
  `<line class="${style}" x1="${from[0].toFixed(1)}" x2="${to[0].toFixed(1)}" y1="${from[1].toFixed(1)}" y2="${to[1].toFixed(1)}"/>`;

/** `style` and `dark` are CSS rules for the shapes of one picture. */
type Picture = { label: string; title: string; height: number; style: string; dark: string; parts: string[] };

export const picture = ({ label, title, height, style, dark, parts }: Picture): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeText(label)}">`,
    `<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .quiet { fill: #59636e } .page { fill: #ffffff } .axis { stroke: #d1d9e0 }
${style}
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .page { fill: #0d1117 } .axis { stroke: #3d444d }
${dark}
  }
</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    text(16, 26, title, "title"),
    ...parts,
    "</svg>\n",
  ].join("\n");
