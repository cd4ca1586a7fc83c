import { readFileSync } from 'node:fs';
import { AppError } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import type { Option, OptionValues } from '../command.js';
import { createConnection, connectionOptions, serviceCredential } from './connection.js';
import { UsageError, type IO } from '../io.js';
import type { KeyClient } from './port.js';
import { withLocalKeys } from './local.js';
import { createRemoteKeys } from './remote.js';
import { printError, selectOutputFormat, outputOptions, type OutputFormat } from '../output/format.js';

/** The options of every command about one key. */
export const keyOptions: Readonly<Record<string, Option>> = {
  'key-hash': {
    value: 'HASH',
    description:
      'The key by the hash of its identifier, in the place of KEY_ID: an identifier may be a token, and the process list shows every argument.',
    isCommon: true,
  },
  'key-id-file': {
    value: 'PATH',
    description: 'A file that holds the identifier, in the place of KEY_ID.',
    isCommon: true,
  },
  url: {
    value: 'URL',
    description: 'Ask the service at this address, in the place of the data folder. Default: KEYFRONT_URL.',
    isCommon: true,
  },
  ...connectionOptions,
  ...outputOptions,
};

/** What a command about one key works with. */
interface Work {
  readonly keys: KeyClient;
  readonly view: OutputFormat;
  /** The identifier of the key. */
  readonly keyID: string;
  /** What stands behind the key's identifier. */
  readonly words: readonly string[];
}

interface Call {
  readonly io: IO;
  readonly command: string;
  readonly values: OptionValues;
  readonly words: readonly string[];
  /** How many words stand behind the key's identifier. */
  readonly others?: number;
  /** The exit code of a refusal. */
  readonly refused?: number;
}

/** Does what is to be done to one key, wherever it is kept, and tells of a refusal. Resolves to the exit code. */
export async function runKeyCommand(
  { io, command, values, words, others = 0, refused = 1 }: Call,
  work: (what: Work) => Promise<number>,
): Promise<number> {
  const view = selectOutputFormat(io, values);
  const named = referenceFrom(values, words.slice(0, Math.max(words.length - others, 0)));
  const url = values['url'] ?? io.env['KEYFRONT_URL'];
  const doWork = async (keys: KeyClient) => {
    try {
      const keyID = 'keyID' in named ? named.keyID : await keys.keyIDOf(named.keyHash);
      return await work({ keys, view, keyID, words: words.slice(words.length - others) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      printError(io, view, error);
      return troubles.has(error.code) ? 2 : refused;
    }
  };
  if (typeof url !== 'string') return withLocalKeys(io, command, doWork);
  return doWork(createRemoteKeys(createConnection(io, values, url, serviceCredential)));
}

/** Refusals that say nothing of what was asked for: it could not be looked at. */
const troubles: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL']);

/** Does what may find problems in a definition; NOT_FOUND and the like pass through. */
export async function withWireNames<T>(body: JSONValue, work: () => Promise<T>): Promise<T> {
  return withWireIssuePaths(body, work);
}

function referenceFrom(
  values: OptionValues,
  [word, ...more]: readonly string[],
): { keyID: string } | { keyHash: string } {
  const { 'key-hash': keyHash, 'key-id-file': file } = values;
  const given = [word, keyHash, file].filter((one) => one !== undefined);
  if (given.length !== 1 || more.length > 0) {
    throw new UsageError('Name the key once: by KEY_ID, or --key-hash, or --key-id-file.');
  }
  if (typeof keyHash === 'string') return { keyHash };
  if (typeof file === 'string') return { keyID: keyIDIn(file) };
  return { keyID: word ?? '' };
}

function keyIDIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageError(`The file ${file} cannot be read.`, { cause });
  }
}

/** The whole number that an option gives, from 1 on; undefined where it is not given. */
export function parseNumberOption(values: OptionValues, option: string, most = 2_147_483_647): number | undefined {
  const text = values[option];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (typeof text !== 'string' || !/^[1-9]\d{0,9}$/.test(text) || number > most) {
    throw new UsageError(`--${option} must be a whole number from 1 to ${most}.`);
  }
  return number;
}

/** The text that an option gives; undefined where it is not given. */
export function stringOption(values: OptionValues, option: string): string | undefined {
  const text = values[option];
  return typeof text === 'string' ? text : undefined;
}
