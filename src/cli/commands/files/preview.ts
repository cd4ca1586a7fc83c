import { AppError } from '../../../lib/errors.js';
import type { JSONValue } from '../../../lib/json.js';
import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { colorVariables } from '../../environment.js';
import { readDefinitions } from '../../input/definitions.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import {
  createImportValidator,
  createLocalValidator,
  createRemoteValidator,
  type ValidateDefinition,
  type ValidDefinition,
} from '../../input/validate-definition.js';
import { UsageError, type IO } from '../../io.js';
import { connectionOptions } from '../../key-client/connection.js';
import { serviceURLFrom } from '../../key-client/open.js';
import {
  formatProblems,
  outputOptions,
  problemsOf,
  selectOutputFormat,
  type OutputFormat,
  type Problem,
} from '../../output/format.js';
import { toJSONLine } from '../../output/json.js';

export const previewCommand: CLICommand = {
  name: 'preview',
  summary: 'Validate key definitions without storing anything',
  description:
    'Prints every problem with its path. Needs no data folder and no network: it applies the rules of this version and the hash algorithm of KEYFRONT_KEY_HASH. With --url, a running service validates the definitions. With --import, the rules are those of `keys import`: every definition needs its key_id and an owner, and one of the same key as an earlier definition has a warning. FILE contains a definition with the field names of REST, an array of definitions or, if its name ends in .jsonl, one definition per line; `-` reads standard input. Prints text on a terminal, otherwise one line of JSON per definition.',
  arguments: ['FILE...'],
  options: {
    strict: { description: 'Exit with 1 also if there are warnings' },
    import: { description: 'Apply the rules of `keys import`' },
    org: { value: 'ID', description: 'With --import: owner of the keys whose definition has no org_id' },
    'passwords-are-hashed': { description: 'With --import: passwords are bcrypt or argon2id hashes' },
    url: { value: 'URL', description: 'Use the service at this address (default: KEYFRONT_URL)' },
    ...connectionOptions,
    ...outputOptions,
  },
  exitCodes: {
    0: 'all definitions are valid',
    1: 'a definition is invalid',
    2: 'invalid usage, or a file or the service cannot be read',
  },
  examples: [
    'keyfront preview --strict keys/billing.json keys/mobile.json',
    'keyfront preview --import --org acme keys.jsonl',
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
