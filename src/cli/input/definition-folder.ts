import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { AppError } from '../../lib/errors.js';
import { systemCodeOf } from '../../lib/durable-file.js';
import type { JSONValue } from '../../lib/json.js';
import { printable } from '../../lib/text.js';
import { explainSystemError } from '../../lib/system-error.js';
import type { IO } from '../io.js';
import { isDefinitionFile, readDefinitions } from './definitions.js';
import { openRegularFile } from './open-file.js';

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
      if (typeof key === 'string') problems.push(`${location}: ${key}`);
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
    throw new Error(`Cannot read the folder ${folder}.`, { cause });
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
