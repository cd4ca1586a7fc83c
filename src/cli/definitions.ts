import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { systemCodeOf } from '../lib/durable-file.js';
import { AppError, pathText } from '../lib/errors.js';
import { parseJSON, type JSONValue } from '../lib/json.js';
import { explainSystemError } from '../lib/system-error.js';
import { printable } from '../lib/text.js';
import { openRegularFile } from './input.js';
import { UsageError, type IO } from './io.js';

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

/** A definition in a file, or the error of parsing it. */
interface FoundDefinition {
  /** The file and, if it contains several definitions, the position: `keys.json[2]`, `keys.jsonl:17`. */
  readonly location: string;
  readonly body: JSONValue | AppError;
}

/** How to read a file whose name matches. */
interface DefinitionReader {
  readonly pattern: RegExp;
  readonly read: (name: string, bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<FoundDefinition>;
}

const readers: readonly DefinitionReader[] = [
  { pattern: /\.(jsonl|ndjson)$/, read: readJSONLines },
  { pattern: /\.ya?ml$/, read: readYAML },
  { pattern: /\.json$/, read: readJSON },
];

/** Whether the name is that of a file that can contain definitions. */
function isDefinitionFile(name: string): boolean {
  return readers.some(({ pattern }) => pattern.test(name));
}

/**
 * Reads the definitions in a file; `-` reads standard input. The file contains one definition, an array, one JSON
 * definition per line, or YAML documents.
 *
 * @param bytes the content of the file, if it is not read as `readBytes` does
 * @throws {Error} if the file cannot be read or contains no definition
 */
export async function* readDefinitions(
  io: IO,
  file: string,
  bytes: AsyncIterable<Uint8Array> = readBytes(io, file),
): AsyncGenerator<FoundDefinition> {
  const name = file === '-' ? '(standard input)' : file;
  let count = 0;
  const read = readers.find(({ pattern }) => pattern.test(file))?.read ?? readJSON;
  for await (const definition of read(name, bytes)) {
    count += 1;
    yield definition;
  }
  if (count === 0) throw new Error(`${name} contains no definition.`);
}

/**
 * Reads the definition in a file that contains exactly one JSON object.
 *
 * @throws {AppError} INVALID if the content is not a JSON object
 * @throws {UsageError} if the file contains several definitions
 */
export async function readDefinitionObject(io: IO, file: string): Promise<JSONValue> {
  const found: FoundDefinition[] = [];
  for await (const definition of readDefinitions(io, file)) {
    found.push(definition);
    if (found.length > 1) throw new UsageError(`${file} contains several definitions; expected one.`);
  }
  const body = found[0]?.body ?? null;
  if (body instanceof AppError) throw body;
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  const issue = { path: [], code: 'WRONG_TYPE', message: 'must be an object' };
  throw new AppError('INVALID', 'The key definition has a problem.', { issues: [issue] });
}

/**
 * Reads a file; `-` reads standard input.
 *
 * @throws {UsageError} if there is no standard input
 * @throws {Error} if the file cannot be read
 */
export async function* readBytes(io: IO, file: string): AsyncGenerator<Uint8Array> {
  if (file === '-' && io.stdin === undefined) throw new UsageError('There is no standard input.');
  try {
    yield* file === '-' && io.stdin ? io.stdin : createReadStream(file);
  } catch (cause) {
    throw new Error(`Cannot read the file ${file}: ${explainSystemError(cause)}.`, { cause });
  }
}

async function* readJSONLines(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FoundDefinition> {
  let number = 0;
  for await (const line of splitLines(bytes)) {
    number += 1;
    const location = `${name}:${number}`;
    const body = parse(line, location, parseLine);
    if (body !== undefined) yield { location, body };
  }
}

async function* readJSON(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FoundDefinition> {
  const content = await buffer(bytes);
  const body = parse(content, name);
  if (body === undefined) return;
  if (body instanceof AppError && startsWithObjectLine(content)) {
    // Standard input has no file name that distinguishes JSON Lines from JSON.
    yield* readJSONLines(name, toStream(content));
  } else {
    yield* elementsOf(name, body);
  }
}

/** Each YAML document contains a definition or a list of them. */
async function* readYAML(name: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FoundDefinition> {
  const content = await buffer(bytes);
  // Loaded on demand: most commands read no YAML.
  const { parseYAML } = await import('./yaml.js');
  const body = parse(content, name, parseYAML);
  if (body !== undefined) yield* elementsOf(name, body);
}

/** The definitions of a file that contains one, or a list of them. */
function* elementsOf(name: string, body: FoundDefinition['body']): Generator<FoundDefinition> {
  if (Array.isArray(body)) {
    for (const [index, element] of body.entries()) yield { location: `${name}[${index}]`, body: element };
  } else {
    yield { location: name, body };
  }
}

/** Whether the first of several lines is a JSON object. */
function startsWithObjectLine(content: Buffer): boolean {
  const end = content.indexOf('\n');
  const first = end === -1 ? undefined : parse(content.subarray(0, end), '');
  return typeof first === 'object' && first !== null && !(first instanceof AppError) && !Array.isArray(first);
}

async function* toStream(content: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(content);
}

/** Parses JSON in UTF-8; returns undefined if the text is blank. The location is for errors. */
function parse(bytes: Uint8Array, location: string, parseText = parseJSON): JSONValue | AppError | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.trim() === '' ? undefined : parseText(text);
  } catch (error) {
    const issues =
      error instanceof AppError ? error.issues : [{ path: [], code: 'MALFORMED_TEXT', message: 'is not valid UTF-8' }];
    const [message = 'is not valid'] = issues.map((issue) => `${pathText(issue.path)} ${issue.message}`.trim());
    return new AppError('INVALID', `${location}: ${message}.`, { issues, cause: error });
  }
}

/** A key that a file defines. */
export interface DesiredKey {
  /** The file and, if it defines several keys, the position. */
  readonly location: string;
  readonly keyID: string;
  /** The definition without `key_id`, in the names of REST. */
  readonly body: Readonly<Record<string, JSONValue>>;
}

/**
 * Reads the keys that the files of a folder and its subfolders define, in the order of their paths. Reports files of other
 * types.
 *
 * @throws {Error} that lists every problem: no definition, one that is not an object with a `key_id`, or a key in two places;
 * or that names the first file that cannot be read or is not a regular file
 */
export async function readDefinitionFolder(io: IO, folder: string): Promise<DesiredKey[]> {
  const found = new Map<string, DesiredKey>();
  const problems: string[] = [];
  const files = await filesIn(folder);
  const others = files.filter((file) => !isDefinitionFile(file));
  if (others.length > 0)
    io.stderr(`Not read, because the type is not one of ${types}: ${printable(others.join(', '))}.\n`);
  for (const file of files.filter(isDefinitionFile)) {
    const path = join(folder, file);
    for await (const { location, body } of readDefinitions(io, path, readRegularFile(path))) {
      const key = desiredKey(location, body);
      const other = typeof key === 'string' ? undefined : found.get(key.keyID);
      // The message of a text that cannot be parsed begins with its location.
      if (typeof key === 'string') problems.push(body instanceof AppError ? key : `${location}: ${key}`);
      else if (other) problems.push(`${location}: ${other.location} defines the same key`);
      else found.set(key.keyID, key);
    }
  }
  if (problems.length > 0) throw new Error(`Nothing was changed:\n${problems.join('\n')}`);
  if (found.size === 0) throw new Error(`The folder ${folder} contains no definition (${types}).`);
  return [...found.values()];
}

const types = '.json, .jsonl, .ndjson, .yaml and .yml';

/** The files of the folder and its subfolders, without those whose path has a part that begins with a dot. */
async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .filter((path) => !/(^|[/\\])\./.test(path))
      .sort();
  } catch (cause) {
    throw new Error(`Cannot read the folder ${folder}: ${explainSystemError(cause)}.`, { cause });
  }
}

async function* readRegularFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream('', { fd: openRegularFile(path) });
  } catch (cause) {
    if (systemCodeOf(cause) === undefined) throw cause;
    throw new Error(`Cannot read the file ${path}: ${explainSystemError(cause)}.`, { cause });
  }
}

/** The key, or the problem of its definition. */
function desiredKey(location: string, value: JSONValue | AppError): DesiredKey | string {
  if (value instanceof AppError) return value.message;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  const { key_id: keyID, ...body } = value;
  return typeof keyID === 'string' ? { location, keyID, body } : '`key_id` is missing or not a string';
}
