/** Reads CSV by RFC 4180, apart from the service's own writer. Throws where a line has no CRLF. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length; ) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (at >= text.length) throw new Error("a quoted cell has no end");
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else for (; at < text.length && !/[,\r\n]/.test(text[at] as string); at++) cell += text[at];
    row.push(cell);
    if (text[at] === ",") at++;
    else if (text.startsWith("\r\n", at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`no comma and no CRLF at ${at}`);
  }
  return rows;
}
