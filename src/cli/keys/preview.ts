import { randomBytes } from 'node:crypto';
import { readConfig } from '../../config/config.js';
import { withChecksum } from '../../crypto/checksum.js';
import { createKeyHash, foreignHashLengths } from '../../crypto/key-hash.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import { previewKey } from '../../keys/queries/preview-key.js';
import { AppError, pathText } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths, warningsMember } from '../../rest/json-body.js';
import { definitionFromWire, definitionToWire } from '../../wire/field-names.js';
import {
  connectionOptions,
  createConnection,
  managementCredential,
  serviceAddress,
  toAppError,
} from '../client/connection.js';
import { serviceURLFrom } from '../client/open.js';
import { type CLICommand, type OptionValues, colorVariables } from '../command.js';
import { readDefinitions } from '../definitions.js';
import { parseOrgIDOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import {
  formatProblems,
  jsonOption,
  problemsOf,
  selectOutputFormat,
  type OutputFormat,
  type Problem,
  toJSONLine,
} from '../output.js';
import { prepareLine, type ImportOptions } from './import-lines.js';

export const previewCommand: CLICommand = {
  name: 'keys preview',
  alias: 'preview',
  summary: 'Validate key definitions without storing anything',
  description:
    'Prints every problem with its path. Needs no data folder and no network: it applies the rules of this version and the hash algorithm of KEYFRONT_KEY_HASH. With --url, a running service validates the definitions. With --import, the rules are those of `keys import`: every definition needs its key_id and an owner, and one of the same key as an earlier definition has a warning. FILE contains a definition with the field names of REST, an array of definitions or, if its name ends in .jsonl, one definition per line; `-` reads standard input. With --json, prints one line per definition.',
  arguments: ['FILE...'],
  options: {
    strict: { description: 'Exit with 1 also if there are warnings' },
    import: { description: 'Apply the rules of `keys import`' },
    org: { value: 'ID', description: 'With --import: owner of the keys whose definition has no org_id' },
    'passwords-are-hashed': { description: 'With --import: passwords are bcrypt or argon2id hashes' },
    url: { value: 'URL', description: 'Use the service at this address (default: KEYFRONT_URL)' },
    ...connectionOptions,
    json: jsonOption,
  },
  exitCodes: {
    0: 'all definitions are valid',
    1: 'a definition is invalid',
    2: 'invalid usage, or a file or the service cannot be read',
  },
  examples: [
    'keyfront keys preview --strict keys/billing.json keys/mobile.json',
    'keyfront keys preview --import --org acme keys.jsonl',
  ],
  environment: [
    'KEYFRONT_URL',
    'KEYFRONT_KEY_HASH',
    'KEYFRONT_KEY_HASH_PEPPER',
    'KEYFRONT_MANAGEMENT_CREDENTIAL',
    'NODE_EXTRA_CA_CERTS',
    ...colorVariables,
  ],
  run: preview,
  errorExitCode: 2,
};

interface PreviewResult {
  readonly location: string;
  /** Undefined if the definition is invalid. */
  readonly valid?: ValidDefinition;
  readonly issues: readonly Problem[];
}

async function preview(io: IO, options: OptionValues, files: readonly string[]): Promise<number> {
  const format = selectOutputFormat(io, options);
  const validate = selectValidator(io, options);
  let [count, invalidCount, warningCount] = [0, 0, 0];
  for (const file of files) {
    for await (const { location, body } of readDefinitions(io, file)) {
      const result = await previewDefinition(location, body, validate);
      io.stdout(format.isJSON ? `${toJSONLine(toJSONObject(result))}\n` : toLines(format, result));
      await io.stdoutDrained?.();
      count += 1;
      if (!result.valid) invalidCount += 1;
      else if (result.valid.warnings.length > 0) warningCount += 1;
    }
  }
  const withWarnings = warningCount > 0 ? ` (${warningCount} with warnings)` : '';
  io.stderr(`${count} previewed: ${count - invalidCount} valid${withWarnings}, ${invalidCount} invalid.\n`);
  if (invalidCount > 0) return 1;
  if (options['strict'] !== true || warningCount === 0) return 0;
  io.stderr('Failed because of --strict: a definition has warnings.\n');
  return 1;
}

function selectValidator(io: IO, options: OptionValues): ValidateDefinition {
  const url = serviceURLFrom(io, options);
  const { import: isImport, org, 'passwords-are-hashed': passwordsAreHashed } = options;
  if (isImport !== true) {
    if (org !== undefined || passwordsAreHashed !== undefined) {
      throw new UsageError('--org and --passwords-are-hashed require --import.');
    }
    return url === undefined ? createLocalValidator(io) : createRemoteValidator(io, options, url);
  }
  if (url !== undefined) {
    throw new UsageError('--import applies the rules of a data folder. Use it without --url and KEYFRONT_URL.');
  }
  return createImportValidator(io, {
    orgID: parseOrgIDOption(org),
    passwordsAreHashed: passwordsAreHashed === true,
    hashLengths: foreignHashLengths(readConfig(io.env).config.keyHash),
  });
}

async function previewDefinition(
  location: string,
  body: JSONValue | AppError,
  validate: ValidateDefinition,
): Promise<PreviewResult> {
  try {
    if (body instanceof AppError) throw body;
    return { location, valid: await validate(body, location), issues: [] };
  } catch (error) {
    // Other errors do not concern the definition.
    if (!(error instanceof AppError) || !['INVALID', 'TOO_LARGE', 'FORBIDDEN'].includes(error.code)) throw error;
    return { location, issues: problemsOf(error) };
  }
}

function toJSONObject({ location, valid, issues }: PreviewResult): object {
  return valid ? { definition: location, valid: true, ...valid } : { definition: location, valid: false, issues };
}

function toLines(format: OutputFormat, { location, valid, issues }: PreviewResult): string {
  const { paint } = format;
  if (!valid) return `${printable(location)}: ${paint.red('invalid')}\n${formatProblems(format, 'error', issues)}`;
  const hash = valid.key_hash === undefined ? '' : ` ${paint.dim(printable(valid.key_hash))}`;
  return `${printable(location)}: ${paint.green('valid')}${hash}\n${formatProblems(format, 'warning', valid.warnings)}`;
}

/** A valid definition in the names of REST, without secrets. */
interface ValidDefinition {
  /** Absent if the definition has no key_id: the hash would be that of a random identifier. */
  readonly key_hash?: string;
  readonly data: unknown;
  readonly warnings: readonly Problem[];
}

/** Validates the definition at a location. Rejects with an `AppError` whose paths are in the names of REST. */
type ValidateDefinition = (body: JSONValue, location: string) => Promise<ValidDefinition>;

/** Validates as the preview does, in this process: opens no storage and sends no request. */
function createLocalValidator(io: IO): ValidateDefinition {
  const deps = {
    ownerID: undefined,
    policies: new Map<string, never>(),
    hashKeyID: hashKeyIDOf(io),
    randomHex: () => withChecksum(randomBytes(16).toString('hex')),
  };
  return async (body) =>
    withWireIssuePaths(body, () => {
      const input = parseDefinition('preview', definitionFromWire(body));
      const { keyHash, definition, warnings } = previewKey(input, { ...deps, now: new Date() });
      const listed = warningsMember({ sentDefinition: body }, warnings).warnings as Problem[] | undefined;
      return { ...hashMember(body, keyHash), data: definitionToWire(definition), warnings: listed ?? [] };
    });
}

/** Validates as an import does, in this process. A definition of the same key as an earlier one has a warning. */
function createImportValidator(io: IO, options: ImportOptions): ValidateDefinition {
  const now = () => new Date();
  // Placeholders, because nothing is stored.
  const hashPassword = (_: string, type: string) => Promise.resolve(type === 'argon2id' ? '$argon2id$' : '$2b$');
  const ports = { now, hashKeyID: hashKeyIDOf(io), hashPassword, newIdentity: () => '', seal: () => new Uint8Array() };
  const locationOfKey = new Map<string, string>();
  return async (body, location) => {
    const { transition, warnings } = await prepareLine(ports, body, options);
    const { keyHash, orgID, definition } = transition.next;
    const first = locationOfKey.get(keyHash);
    if (first === undefined) locationOfKey.set(keyHash, location);
    const message = `is the same as in ${first}; an import skips this definition`;
    const duplicate = first === undefined ? [] : [{ path: 'key_id', code: 'DUPLICATE', message }];
    return {
      key_hash: keyHash,
      data: definitionToWire({ ...definition, orgID }),
      warnings: [
        ...warnings.map(({ path, code, message: text }) => ({ path: pathText(path), code, message: text })),
        ...duplicate,
      ],
    };
  };
}

/** Validates with a service over REST, which uses the field names of the files. */
function createRemoteValidator(io: IO, options: OptionValues, url: string): ValidateDefinition {
  const send = createConnection(io, serviceAddress(io, options, url, managementCredential));
  return async (body) => {
    const response = await send('/api/keys/preview', body);
    if (response['status'] === 'error') throw toAppError(response);
    return {
      ...hashMember(body, String(response['key_hash'])),
      data: withoutSecrets(response['data']),
      warnings: toProblems(response['warnings']),
    };
  };
}

function hashKeyIDOf({ env }: IO): (keyID: string) => string {
  const { config, secrets } = readConfig(env);
  return createKeyHash(config.keyHash, secrets.keyHashPepper);
}

function hashMember(body: JSONValue, keyHash: string): Pick<ValidDefinition, 'key_hash'> {
  const hasKeyID = typeof body === 'object' && body !== null && 'key_id' in body && body.key_id !== null;
  return hasKeyID ? { key_hash: keyHash } : {};
}

/** Removes the secrets that the service echoes: the output may be the log of a build. */
function withoutSecrets(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const { hmac_string: hmac, jwt_data: jwt, ...shown } = data as Record<string, unknown>;
  if (typeof jwt !== 'object' || jwt === null) return shown;
  const { secret, ...rest } = jwt as Record<string, unknown>;
  return { ...data, hmac_string: undefined, jwt_data: rest };
}

function toProblems(warnings: unknown): Problem[] {
  if (!Array.isArray(warnings)) return [];
  return warnings.map((warning: unknown) => {
    const { path, code, message } = Object(warning) as Record<string, unknown>;
    return { path: String(path), code: String(code), message: String(message) };
  });
}
