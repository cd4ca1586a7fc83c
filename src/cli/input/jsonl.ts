import { AppError } from '../../lib/errors.js';
import { parseJSON, type JSONValue } from '../../lib/json.js';

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

/**
 * Parses one line.
 *
 * @throws {AppError} INVALID if the line is not valid JSON; its message contains the column of the error, not the line
 */
export function parseLine(text: string): JSONValue {
  try {
    return parseJSON(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.issues.map((issue) => ({ ...issue, message: issue.message.replace('(line 1, ', '(') }));
    throw new AppError(error.code, error.message, { issues, cause: error });
  }
}
