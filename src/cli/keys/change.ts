import { AppError, errorCodeOf } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire } from '../../wire/field-names.js';
import { changeResultToJSON, formatWarnings, printChange, shortHash, withoutResetFields } from '../changes.js';
import { keyNotFound, type KeyChangeResult, type KeyClient, type UpdateOptions } from '../client/operations.js';
import {
  changeExitCodes,
  definitionFile,
  keysOptions,
  reasonOption,
  runKeysCommand,
  stringOption,
  expectedVersionOption,
  keyOptions,
  resetQuotaOption,
  changeOptionsFrom,
  runKeyCommand,
  keyLocation,
  parseNumberOption,
} from '../client/run.js';
import { type CLICommand, type OptionValues, keyVariables } from '../command.js';
import { readDefinitionObject } from '../definitions.js';
import { actorOption, parseOrgIDOption, confirm, gatewayEffect, notConfirmedExitCode, yesOption } from '../input.js';
import { type IO, UsageError } from '../io.js';
import { toJSONLine } from '../output.js';

export const createCommand: CLICommand = {
  name: 'keys create',
  alias: 'create',
  summary: 'Create a key with a generated identifier, and print the identifier',
  description: `The recommended way to create keys: the identifier ends in 32 random hex digits, so that it cannot be guessed, and 8 digits of their CRC-32. \`keys put --create\` creates a key with an identifier of your own. As text, standard output contains only the identifier. ${definitionFile}`,
  arguments: ['FILE'],
  options: {
    prefix: {
      value: 'TEXT',
      description: 'Readable beginning of the identifier, such as acme_live_ (default: the organisation)',
    },
    org: { value: 'ID', description: 'Owner of the key if FILE has no org_id' },
    reason: reasonOption,
    actor: actorOption,
    ...keysOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys create billing.json --prefix acme_live_ --reason "new customer"'],
  environment: keyVariables,
  run: create,
  errorExitCode: 2,
};

async function create(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const orgID = parseOrgIDOption(options['org']);
  const createOptions = { keyIDPrefix: stringOption(options, 'prefix'), reason: stringOption(options, 'reason') };
  return runKeysCommand({ io, command: 'keys create', options }, async ({ keys, format }) => {
    const body = await readDefinitionObject(io, file);
    const definition = definitionFromWire({ ...(orgID !== undefined && { org_id: orgID }), ...Object(body) });
    const created = await withWireIssuePaths(body, () => keys.create(undefined, definition, createOptions));
    const { keyID: key } = created;
    if (format.isJSON) {
      io.stdout(`${toJSONLine({ action: 'added', key, ...changeResultToJSON(created, body) })}\n`);
    } else {
      io.stdout(`${key}\n`);
      io.stderr(`Created with the hash ${created.keyHash}.\n${formatWarnings(format, created, body)}`);
    }
    return 0;
  });
}

export const putCommand: CLICommand = {
  name: 'keys put',
  alias: 'put',
  summary: 'Replace the definition of a key',
  description: `Secrets that the new definition omits stay unchanged. A definition that the key has already makes no new version; as for \`keys diff\`, what a reset has stored is no difference. ${definitionFile}`,
  arguments: ['[KEY_ID]', 'FILE'],
  options: {
    'reset-quota': resetQuotaOption,
    'expected-version': expectedVersionOption,
    create: { description: 'Create the key if it does not exist; FILE must then contain its owner as org_id' },
    reason: reasonOption,
    actor: actorOption,
    ...keyOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys put acme-billing billing.json --expected-version 3 --reason "raised limits, OPS-17"'],
  environment: keyVariables,
  run: put,
  errorExitCode: 2,
};

async function put(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const updateOptions = { resetQuota: options['reset-quota'] === true, ...changeOptionsFrom(options) };
  const mayCreate = options['create'] === true;
  if (mayCreate && updateOptions.expectedVersion !== undefined) {
    throw new UsageError('--create and --expected-version cannot be used together: a new key has no version.');
  }
  const call = { io, command: 'keys put', options, args, argsAfterKey: 1 };
  return runKeyCommand(call, async ({ keys, format, keyID, args: [file = ''] }) => {
    const body = await readDefinitionObject(io, file);
    const definition = definitionFromWire(body);
    const { action, result } = await withWireIssuePaths(body, async () => {
      try {
        const unchanged = await findUnchanged(keys, keyID, definition, updateOptions);
        const result = unchanged ?? (await keys.update(keyID, definition, updateOptions));
        return { action: 'modified', result } as const;
      } catch (error) {
        if (!mayCreate || errorCodeOf(error) !== 'NOT_FOUND') throw error;
        const { reason } = updateOptions;
        return { action: 'added', result: await keys.create(keyID, definition, { reason }) } as const;
      }
    });
    printChange(io, format, { action, result, body });
    return 0;
  });
}

/** Returns the result of an update that changes only fields that a reset has stored; undefined for any other update. */
async function findUnchanged(
  keys: KeyClient,
  keyID: string,
  definition: unknown,
  options: UpdateOptions,
): Promise<KeyChangeResult | undefined> {
  if (options.resetQuota) return undefined;
  try {
    const prediction = await keys.previewUpdate(keyID, definition, options);
    const result = withoutResetFields(prediction);
    return prediction.isChanged && !result.isChanged ? result : undefined;
  } catch (error) {
    // The update is rejected for the same reason, unless the credential may update and not read.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

export const deleteCommand: CLICommand = {
  name: 'keys delete',
  alias: 'delete',
  summary: 'Delete a key',
  description: `The key stops working at once. \`keys restore\` restores it for the days of KEYFRONT_RESTORE_DAYS; after them it is purged with its history. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    'expected-version': expectedVersionOption,
    reason: reasonOption,
    actor: actorOption,
    yes: yesOption,
    ...keyOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys delete acme-billing --reason "contract ended"'],
  environment: keyVariables,
  run: deleteKey,
  errorExitCode: 2,
};

async function deleteKey(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const changeOptions = changeOptionsFrom(options);
  return runKeyCommand({ io, command: 'keys delete', options, args }, async ({ keys, format, keyID }) => {
    if (!(await confirm(io, options, () => questionOf(keys, keyID, args[0])))) return notConfirmedExitCode;
    const result = await keys.delete(keyID, changeOptions);
    printChange(io, format, { action: 'deleted', result, body: null });
    return 0;
  });
}

/** Names the key; its identifier only if the arguments do, because it may be a token. */
async function questionOf(keys: KeyClient, keyID: string, typed: string | undefined): Promise<string> {
  const key = await keys.find({ keyID });
  if (!key) throw keyNotFound();
  const name = typed === keyID ? keyID : shortHash(key.keyHash);
  const alias = key.alias === undefined ? '' : ` (${key.alias})`;
  return `Delete key ${printable(`${name}${alias} of ${key.orgID}`)}? ${gatewayEffect}`;
}

export const restoreKeyCommand: CLICommand = {
  name: 'keys restore',
  alias: 'undelete',
  summary: 'Restore a deleted key',
  description: `Possible for the days of KEYFRONT_RESTORE_DAYS after \`keys delete\`. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: { 'expected-version': expectedVersionOption, reason: reasonOption, actor: actorOption, ...keyOptions },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys restore acme-billing'],
  environment: keyVariables,
  run: restore,
  errorExitCode: 2,
};

async function restore(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const changeOptions = changeOptionsFrom(options);
  return runKeyCommand({ io, command: 'keys restore', options, args }, async ({ keys, format, keyID }) => {
    const result = await keys.restore(keyID, changeOptions);
    printChange(io, format, { action: 'restored', result, body: null });
    return 0;
  });
}

export const revertCommand: CLICommand = {
  name: 'keys revert',
  alias: 'revert',
  summary: 'Revert a key to an earlier version by creating a new version',
  description: `Secrets and the live quota stay unchanged. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    to: { value: 'VERSION', description: 'Version whose definition is restored', isRequired: true },
    'expected-version': expectedVersionOption,
    reason: reasonOption,
    actor: actorOption,
    ...keyOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys revert acme-billing --to 2'],
  environment: keyVariables,
  run: revert,
  errorExitCode: 2,
};

async function revert(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const toVersion = parseNumberOption(options, 'to');
  if (toVersion === undefined) throw new UsageError('--to VERSION is required.');
  const changeOptions = changeOptionsFrom(options);
  return runKeyCommand({ io, command: 'keys revert', options, args }, async ({ keys, format, keyID }) => {
    const result = await withWireIssuePaths(null, () => keys.revert(keyID, toVersion, changeOptions));
    printChange(io, format, { action: 'modified', result, body: null });
    return 0;
  });
}

export const resetCommand: CLICommand = {
  name: 'keys reset',
  alias: 'reset',
  summary: 'Reset the live quota of a key',
  description: `The definition stays unchanged. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: { reason: reasonOption, actor: actorOption, ...keyOptions },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys reset acme-billing --reason "paid in advance"'],
  environment: keyVariables,
  run: reset,
  errorExitCode: 2,
};

async function reset(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const reason = stringOption(options, 'reason');
  return runKeyCommand({ io, command: 'keys reset', options, args }, async ({ keys, format, keyID }) => {
    printChange(io, format, { action: 'modified', result: await resetQuota(keys, keyID, reason), body: null });
    return 0;
  });
}

const maxAttempts = 5;

/** Writes the definition as it was read; the expected version detects a concurrent change, which is then retried. */
async function resetQuota(keys: KeyClient, keyID: string, reason: string | undefined): Promise<KeyChangeResult> {
  for (let attempt = 1; ; attempt++) {
    const { definition, version } = await keys.read(keyID);
    try {
      return await keys.update(keyID, definition, { resetQuota: true, expectedVersion: version, reason });
    } catch (error) {
      if (errorCodeOf(error) !== 'CONFLICT' || attempt === maxAttempts) throw error;
    }
  }
}
