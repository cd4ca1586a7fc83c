import { readFileSync } from 'node:fs';
import type { KeyFilter } from '../../keys/key-query.js';
import type { KeyReference } from '../../keys/queries/read-keys.js';
import { AppError, errorCodeOf, pathText, type ErrorCode } from '../../lib/errors.js';
import { explainSystemError } from '../../lib/system-error.js';
import { actorHeader, toActorHeader } from '../../http/actor-header.js';
import type { Option, OptionValues } from '../command.js';
import { parseActorOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import { jsonOption, printError, selectOutputFormat, type OutputFormat } from '../output.js';
import { connectionOptions, createConnection, serviceAddress, serviceCredential } from './connection.js';
import { createSubscribe } from './follow.js';
import { serviceURLFrom, withLocalPlace } from './open.js';
import {
  bindOperations,
  keyNotFound,
  type ChangeOptions,
  type ClientPlace,
  type FoundKey,
  type KeyClient,
  type UpdateOptions,
} from './operations.js';
import { bindGateways, type GatewayClient } from './gateway-operations.js';
import { bindPolicies, type PolicyClient } from './policy-operations.js';
import { bindProposals, type ProposalClient } from './proposal-operations.js';

/** The option `--url`. */
export const serviceURLOption: Option = {
  value: 'URL',
  description: 'Use the service at this address instead of the data folder (default: KEYFRONT_URL)',
  isCommon: true,
};

/** Options of every command for keys. */
export const keysOptions: Readonly<Record<string, Option>> = {
  url: serviceURLOption,
  ...connectionOptions,
  json: jsonOption,
};

/** Options of every command for one key. */
export const keyOptions: Readonly<Record<string, Option>> = {
  'key-hash': {
    value: 'HASH',
    description:
      'Select the key by the hash of its identifier, or by an unambiguous beginning of it, instead of KEY_ID; use it if the identifier is a token, because the process list shows arguments',
    isCommon: true,
  },
  'key-id-file': { value: 'PATH', description: 'Read the identifier from a file instead of KEY_ID', isCommon: true },
  ...keysOptions,
};

/** The option `--reset-quota`. */
export const resetQuotaOption: Option = { description: 'Also reset the live quota' };

/** The option `--expected-version`. */
export const expectedVersionOption: Option = {
  value: 'N',
  description: 'Reject the change unless the key has this version',
};

/** The option `--reason`. */
export const reasonOption: Option = {
  value: 'TEXT',
  description: 'Reason recorded in the history; do not include secrets',
};

/** Help text: which keys a command works on, and what it prints. */
export const keyLocation = 'Works on the data folder, where a service may be running, or with --url on a service.';

/** Help text: where the definition comes from. */
export const definitionFile = `FILE contains the definition with the field names of REST; \`-\` reads standard input. ${keyLocation}`;

/** Exit code 2 of the commands for one key. */
export const cannotAccess = 'invalid usage, or the key cannot be accessed: no file, service or valid credential';

/** Exit codes of the commands that change one key. */
export const changeExitCodes: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'rejected; the reasons are printed',
  2: cannotAccess,
};

/** Context of a command for keys. */
interface KeysCommandContext {
  readonly keys: KeyClient;
  readonly policies: PolicyClient;
  readonly proposals: ProposalClient;
  readonly gateways: GatewayClient;
  readonly format: OutputFormat;
}

/** Context of a command for one key. */
interface KeyCommandContext extends KeysCommandContext {
  /** The identifier of the key. */
  readonly keyID: string;
  /** The arguments after the identifier of the key. */
  readonly args: readonly string[];
}

interface KeysCommandCall {
  readonly io: IO;
  readonly command: string;
  readonly options: OptionValues;
  /** Default: write. */
  readonly access?: 'read' | 'write';
  /** Exit code if the request was rejected. Default: 1. */
  readonly rejectedExitCode?: number;
  /** Exit code if no key could be accessed. Default: 2. */
  readonly accessErrorExitCode?: number;
}

interface KeyCommandCall extends KeysCommandCall {
  readonly args: readonly string[];
  /** Number of arguments after the identifier of the key. Default: 0. */
  readonly argsAfterKey?: number;
}

/** Codes of errors that do not concern the request itself: the key could not be accessed. */
const accessErrors: ReadonlySet<ErrorCode> = new Set(['UNAUTHENTICATED', 'RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL']);

/**
 * Runs a command for one key, as `runKeysCommand`.
 *
 * @throws {UsageError} if the options do not name exactly one key
 */
export async function runKeyCommand(
  call: KeyCommandCall,
  work: (context: KeyCommandContext) => Promise<number>,
): Promise<number> {
  const { options, args, argsAfterKey = 0 } = call;
  const reference = keyReferenceFrom(options, args.slice(0, Math.max(args.length - argsAfterKey, 0)));
  return runKeysCommand(call, async (context) => {
    const keyID =
      'keyID' in reference ? reference.keyID : identifierOf(await findByHash(context.keys, reference.keyHash));
    return work({ ...context, keyID, args: args.slice(args.length - argsAfterKey) });
  });
}

/**
 * Runs a command for keys, in the data folder or, with `--url`, at a service, and prints an `AppError`. Resolves to the
 * exit code.
 */
export async function runKeysCommand(
  { io, command, options, access = 'write', rejectedExitCode = 1, accessErrorExitCode = 2 }: KeysCommandCall,
  work: (context: KeysCommandContext) => Promise<number>,
): Promise<number> {
  const format = selectOutputFormat(io, options);
  const url = serviceURLFrom(io, options);
  const runWith = async (place: ClientPlace) => {
    try {
      return await work({
        keys: bindOperations(place),
        policies: bindPolicies(place),
        proposals: bindProposals(place),
        gateways: bindGateways(place),
        format,
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      printError(io, format, format.isJSON ? error : withOptionNames(error, options));
      return accessErrors.has(error.code) ? accessErrorExitCode : rejectedExitCode;
    }
  };
  if (url === undefined) return withLocalPlace(io, { command, options, access }, (local) => runWith({ local }));
  const actor = parseActorOption(options);
  const { baseURL, headers } = serviceAddress(io, options, url, serviceCredential);
  const address = { baseURL, headers: { ...headers, ...(actor && { [actorHeader]: toActorHeader(actor) }) } };
  const send = createConnection(io, address);
  const subscribe = createSubscribe(address, (line) => io.stderr(`${line}\n`));
  return runWith({ remote: { send, subscribe } });
}

/** Arguments of the API, and the options that become them. */
const optionsOfArguments = new Map<string, readonly string[]>([
  ['applyAt', ['at']],
  ['after', ['after', 'cursor']],
  ['overlap', ['overlap']],
  ['silence', ['silence']],
  ['prefix', ['prefix']],
  ['from', ['from']],
  ['to', ['to']],
]);

/** Names the options in the issues, for a person who has not used the API. JSON keeps its names. */
function withOptionNames(error: AppError, options: OptionValues): AppError {
  const issues = error.issues.map((issue) => {
    const names = optionsOfArguments.get(pathText(issue.path));
    const option = names?.find((name) => options[name] !== undefined);
    return option === undefined ? issue : { ...issue, path: [`--${option}`] };
  });
  return new AppError(error.code, error.message, { issues });
}

const hashStates: readonly KeyFilter[] = [{}, { states: ['DELETED'] }];

/**
 * Returns the only hash of a key that begins with this text, also of a deleted or damaged one; the text itself if none is
 * longer.
 *
 * @throws {AppError} INVALID if several hashes begin with it
 */
export async function fullHashOf(keys: Pick<KeyClient, 'hashesAfter'>, text: string): Promise<string> {
  const found = await Promise.all(hashStates.map((filter) => keys.hashesAfter(text, filter, 2)));
  const [keyHash = text, ...others] = found.flat().filter((one) => one.startsWith(text));
  if (others.length > 0) throw new AppError('INVALID', `Several hashes begin with ${text}. Write more of it.`);
  return keyHash;
}

/** @throws {AppError} INVALID if only the hash of the identifier is known. */
export function identifierOf({ keyID }: FoundKey): string {
  if (typeof keyID === 'string') return keyID;
  const message =
    'The key was imported by its hash, and this command needs its identifier. Use GraphQL with `keyHash`.';
  throw new AppError('INVALID', message);
}

async function findByHash(keys: KeyClient, hash: string): Promise<FoundKey> {
  const key = (await keys.find({ keyHash: hash })) ?? (await keys.find({ keyHash: await fullHashOf(keys, hash) }));
  if (!key) throw keyNotFound();
  return key;
}

/**
 * Returns the hash by which a key is followed also after its identifier has retired. A hash that no key has stays.
 *
 * @throws {AppError} NOT_FOUND if no key has the identifier
 */
export async function hashToFollow(keys: KeyClient, reference: KeyReference): Promise<string> {
  if ('keyID' in reference) {
    const key = await keys.find(reference);
    if (!key) throw keyNotFound();
    return key.keyHash;
  }
  const found = await keys.find(reference).catch((error: unknown) => {
    // The history of a key that fails its integrity check can be followed.
    if (errorCodeOf(error) === 'INTERNAL') return undefined;
    throw error;
  });
  return found?.keyHash ?? fullHashOf(keys, reference.keyHash);
}

/** The key that the options name. @throws {UsageError} if they do not name exactly one */
export function keyReferenceFrom(options: OptionValues, [argument, ...more]: readonly string[]): KeyReference {
  const { 'key-hash': keyHash, 'key-id-file': file } = options;
  const references = [argument, keyHash, file].filter((reference) => reference !== undefined);
  if (references.length !== 1 || more.length > 0) {
    throw new UsageError('Specify exactly one of KEY_ID, --key-hash and --key-id-file.');
  }
  if (typeof keyHash === 'string') return { keyHash };
  if (typeof file === 'string') return { keyID: readKeyID(file) };
  return { keyID: argument ?? '' };
}

function readKeyID(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new UsageError(`Cannot read the file ${file}: ${explainSystemError(cause)}.`, { cause });
  }
}

/**
 * Parses an option as a whole number from 1 to `max`. Returns undefined if the option is absent.
 *
 * @throws {UsageError} if the value is not such a number
 */
export function parseNumberOption(options: OptionValues, name: string, max = 2_147_483_647): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (typeof text !== 'string' || !/^[1-9]\d{0,9}$/.test(text) || number > max) {
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`);
  }
  return number;
}

/**
 * The values of `--expected-version` and `--reason`.
 *
 * @throws {UsageError} if the version is not a whole number
 */
export function changeOptionsFrom(options: OptionValues): ChangeOptions {
  return {
    expectedVersion: parseNumberOption(options, 'expected-version'),
    reason: stringOption(options, 'reason'),
  };
}

/** The options of an update or a patch. @throws {UsageError} as `changeOptionsFrom` */
export function updateOptionsFrom(options: OptionValues): UpdateOptions {
  return { resetQuota: options['reset-quota'] === true, ...changeOptionsFrom(options) };
}

/** The value of an option; undefined if the option is absent or a flag. */
export function stringOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}
