/** Collects items into pages of `size` items. The last page has the rest, and may be empty. */
export async function* inPages<Item>(items: AsyncIterable<Item>, size: number): AsyncIterable<readonly Item[]> {
  let page: Item[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  yield page;
}
