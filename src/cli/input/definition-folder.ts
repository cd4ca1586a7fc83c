import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { AppError } from '../../lib/errors.js';
import { systemCodeOf } from '../../lib/durable-file.js';
import type { JSONValue } from '../../lib/json.js';
import { explainSystemError } from '../../lib/system-error.js';
import type { IO } from '../io.js';
import { readDefinitions } from './definitions.js';
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
 * Reads the keys that the JSON and JSON Lines files of a folder and its subfolders define, in the order of their paths.
 *
 * @throws {Error} that lists every problem: no definition, one that is not an object with a `key_id`, or a key in two places;
 * or that names the first file that cannot be read or is not a regular file
 */
export async function readDefinitionFolder(io: IO, folder: string): Promise<DesiredKey[]> {
  const found = new Map<string, DesiredKey>();
  const problems: string[] = [];
  for (const file of await filesIn(folder)) {
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
  if (found.size === 0) throw new Error(`The folder ${folder} contains no definition (*.json, *.jsonl).`);
  return [...found.values()];
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => /\.(json|jsonl|ndjson)$/.test(entry.name) && !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
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
