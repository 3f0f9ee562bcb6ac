/**
 * One JSON answer in pieces: `data` with these members and these lists. A list is read page by page, each after the
 * piece before was taken. A page without items is an empty piece.
 */
export async function* writeJson(
  members: object,
  lists: Record<string, AsyncIterable<readonly object[]>>,
): AsyncGenerator<string, void> {
  // Without the last brace: the lists follow.
  yield `{"data":${JSON.stringify(members).slice(0, -1)}`;
  for (const [name, pages] of Object.entries(lists)) {
    let before = `,${JSON.stringify(name)}:[`;
    for await (const page of pages) {
      if (page.length === 0) {
        yield "";
        continue;
      }
      yield before + page.map((item) => JSON.stringify(item)).join(",");
      before = ",";
    }
    yield before === "," ? "]" : `${before}]`;
  }
  yield "}}";
}
