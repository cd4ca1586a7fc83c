import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { parseJSON } from '../lib/json.js';
import { systemCodeOf } from '../lib/durable-file.js';
import { isOpenToOthers } from '../lib/file-mode.js';
import { explainSystemError } from '../lib/system-error.js';

/** A key in the file: `created` is an ISO date, `key` has {@link keyBytes} bytes in base64. */
export interface RingKey {
  readonly id: string;
  readonly created: string;
  readonly key: string;
  /** Whether the key only decrypts and verifies. It becomes the primary key when every host has it. */
  readonly pending?: true;
}

/** The content of the file. The primary key is the last one. */
export interface RingKeys {
  readonly older: readonly RingKey[];
  readonly primary: RingKey;
}

/** Key length of AES-256 in bytes. */
export const keyBytes = 32;

const idPattern = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Reads a key ring.
 *
 * @throws {Error} when the file cannot be read, other users can read it, or it is not a key ring. Never quotes the content.
 */
export function readKeyRingFile(path: string): RingKeys {
  return parseKeys(path, readPrivateFile(path));
}

/** Returns the content of the file for a ring: the inverse of {@link readKeyRingFile}. */
export function keyRingText({ older, primary }: RingKeys): string {
  return `${JSON.stringify({ keys: [...older, primary] }, null, 2)}\n`;
}

function readPrivateFile(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    // The mode of the open file, because the path could name another file when it is read.
    if (isOpenToOthers(fstatSync(file).mode)) {
      throw new Error(`The key ring ${path} is open to other users. Run: chmod 600 ${path}`);
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${explainSystemError(error)}`;
    throw new Error(`The key ring ${path} ${reason}.`, { cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function parseKeys(path: string, text: string): RingKeys {
  const malformed = (what: string) => new Error(`The key ring ${path} is malformed: ${what}.`);
  let content: unknown;
  try {
    content = parseJSON(text);
  } catch {
    // The message of the parser quotes the text around the error, which may be a key.
    throw malformed('it is not JSON');
  }
  const list = isRecord(content) ? content['keys'] : undefined;
  if (!Array.isArray(list)) throw malformed('it has no list "keys"');
  const keys = list.map((item: unknown, index): RingKey => {
    const at = `entry ${index + 1} of "keys"`;
    const { id, created, key, pending } = isRecord(item) ? item : {};
    if (typeof id !== 'string' || !idPattern.test(id)) throw malformed(`${at} has no valid "id"`);
    if (typeof created !== 'string' || Number.isNaN(Date.parse(created)))
      throw malformed(`${at} has no date "created"`);
    if (typeof key !== 'string' || !isKey(key)) throw malformed(`${at} has no "key" of ${keyBytes} bytes in base64`);
    return { id, created, key, ...(pending === true && { pending }) };
  });
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw malformed('two keys have the same "id"');
  const primary = keys.pop();
  if (primary === undefined) throw malformed('it has no key');
  if (primary.pending) throw malformed('its last key is "pending"');
  return { older: keys, primary };
}

/** Whether the text is the canonical base64 of a key. Node also decodes other text without an error. */
function isKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === keyBytes && bytes.toString('base64') === text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
