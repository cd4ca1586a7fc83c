import { createReadStream } from 'node:fs';
import { AppError } from '../../lib/errors.js';
import { parseJSON, type JSONValue } from '../../lib/json.js';
import { UsageError, type IO } from '../io.js';
import { splitLines } from './jsonl.js';

/** A definition as it stands in a file, or why there is none to be had. */
export interface FoundDefinition {
  /** The file and, where there are several in it, which one: `keys.json[2]`, `keys.jsonl:17`. */
  readonly place: string;
  readonly body: JSONValue | AppError;
}

/**
 * The definitions in a file, `-` being what is piped in: one, an array of them, or a line each. Throws an Error in words
 * where the file cannot be read or holds none.
 */
export async function* readDefinitions(io: IO, file: string): AsyncGenerator<FoundDefinition> {
  const name = file === '-' ? '(standard input)' : file;
  let count = 0;
  const found = /\.(jsonl|ndjson)$/.test(file) ? linesIn(name, bytesOf(io, file)) : wholesIn(name, bytesOf(io, file));
  for await (const one of found) {
    count += 1;
    yield one;
  }
  if (count === 0) throw new Error(`${name} holds no definition.`);
}

/** The one definition in a file. Throws INVALID where it is no JSON, and a UsageError where there are several. */
export async function readSingleDefinition(io: IO, file: string): Promise<JSONValue> {
  const found: FoundDefinition[] = [];
  for await (const one of readDefinitions(io, file)) {
    found.push(one);
    if (found.length > 1) throw new UsageError(`${file} holds several definitions, and one is wanted.`);
  }
  const body = found[0]?.body ?? null;
  if (body instanceof AppError) throw body;
  return body;
}

async function* bytesOf(io: IO, file: string): AsyncGenerator<Uint8Array> {
  if (file === '-' && io.stdin === undefined) throw new UsageError('Nothing is piped in.');
  try {
    yield* file === '-' && io.stdin ? io.stdin : createReadStream(file);
  } catch (cause) {
    throw new Error(`The file ${file} cannot be read.`, { cause });
  }
}

async function* linesIn(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FoundDefinition> {
  let number = 0;
  for await (const line of splitLines(bytes)) {
    number += 1;
    const body = read(line);
    if (body !== undefined) yield { place: `${name}:${number}`, body };
  }
}

async function* wholesIn(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FoundDefinition> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  const body = read(whole);
  if (body === undefined) return;
  if (body instanceof AppError && hasLines(whole)) {
    // What is piped in has no name to tell that it is lines.
    yield* linesIn(name, linesAgain(whole));
  } else if (Array.isArray(body)) {
    for (const [index, member] of body.entries()) yield { place: `${name}[${index}]`, body: member };
  } else {
    yield { place: name, body };
  }
}

/** Whether the first of several lines is an object by itself. */
function hasLines(whole: Buffer): boolean {
  const end = whole.indexOf('\n');
  const first = end === -1 ? undefined : read(whole.subarray(0, end));
  return typeof first === 'object' && first !== null && !(first instanceof AppError) && !Array.isArray(first);
}

async function* linesAgain(whole: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(whole);
}

/** What the bytes say; undefined where they are blank. */
function read(bytes: Uint8Array): JSONValue | AppError | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.trim() === '' ? undefined : parseJSON(text);
  } catch (error) {
    if (!(error instanceof AppError)) return malformed('MALFORMED_TEXT', 'The text is not valid UTF-8.', error);
    const [issue] = error.issues;
    return issue ? malformed(issue.code, issue.message.replace('The body', 'The text'), error, issue.path) : error;
  }
}

function malformed(code: string, message: string, cause: unknown, path: readonly (string | number)[] = []): AppError {
  return new AppError('INVALID', message, { issues: [{ path, code, message }], cause });
}
