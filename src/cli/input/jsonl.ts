const lineFeed = 0x0a;

/**
 * Splits a stream into lines, as bytes. Only a line feed ends a line: JSON strings may contain the other line separators,
 * at which `node:readline` also splits.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      yield Buffer.concat([...pending, chunk.subarray(start, end)]);
      pending = [];
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
  }
  yield Buffer.concat(pending);
}
