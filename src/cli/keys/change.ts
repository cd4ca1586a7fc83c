import type { DefinitionPatch } from '../../keys/definition/patch.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire, patchFromWire } from '../../wire/field-names.js';
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
  updateOptionsFrom,
  runKeyCommand,
  keyLocation,
  parseNumberOption,
} from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { readDefinitionObject } from '../definitions.js';
import {
  actorOption,
  parseOrgIDOption,
  parseDuration,
  parseOverlap,
  confirm,
  gatewayEffect,
  notConfirmedExitCode,
  yesOption,
} from '../input.js';
import { waitExitCodes, waitFrom, waitOptions } from '../gateways.js';
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
      description: 'Readable beginning of the identifier, such as acme_live_ (default: the organization)',
    },
    org: { value: 'ID', description: 'Owner of the key if FILE has no org_id' },
    reason: reasonOption,
    actor: actorOption,
    ...keysOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront keys create billing.json --prefix acme_live_ --reason "new customer"'],
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
    ...waitOptions,
    reason: reasonOption,
    actor: actorOption,
    ...keyOptions,
  },
  exitCodes: { ...changeExitCodes, ...waitExitCodes },
  examples: ['keyfront keys put acme-billing billing.json --expected-version 3 --reason "raised limits, OPS-17"'],
  run: put,
  errorExitCode: 2,
};

async function put(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const updateOptions = updateOptionsFrom(options);
  const mayCreate = options['create'] === true;
  if (mayCreate && updateOptions.expectedVersion !== undefined) {
    throw new UsageError('--create and --expected-version cannot be used together: a new key has no version.');
  }
  const wait = waitFrom(io, options);
  if (mayCreate && options['wait'] !== undefined) throw new UsageError('--create and --wait cannot be used together.');
  const call = { io, command: 'keys put', options, args, argsAfterKey: 1 };
  return runKeyCommand(call, async ({ keys, gateways, format, keyID, args: [file = ''] }) => {
    await wait.prepare(gateways, keyID);
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
    return wait.finish(gateways, keyID);
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

export const patchCommand: CLICommand = {
  name: 'keys patch',
  alias: 'patch',
  summary: 'Change some fields of a key',
  description: `FILE contains the fields to change with the field names of REST, as a JSON Merge Patch (RFC 7396): an object is merged with the stored one, null removes a field, and any other value replaces the stored one. Fields that it omits stay. \`-\` reads standard input. ${keyLocation}`,
  arguments: ['[KEY_ID]', 'FILE'],
  options: {
    'reset-quota': resetQuotaOption,
    'expected-version': expectedVersionOption,
    ...waitOptions,
    reason: reasonOption,
    actor: actorOption,
    ...keyOptions,
  },
  exitCodes: { ...changeExitCodes, ...waitExitCodes },
  examples: ['keyfront keys patch acme-billing rate.json --reason "raised limits, OPS-17"'],
  run: patch,
  errorExitCode: 2,
};

async function patch(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const patchOptions = updateOptionsFrom(options);
  const wait = waitFrom(io, options);
  const call = { io, command: 'keys patch', options, args, argsAfterKey: 1 };
  return runKeyCommand(call, async ({ keys, gateways, format, keyID, args: [file = ''] }) => {
    await wait.prepare(gateways, keyID);
    const body = await readDefinitionObject(io, file);
    const result = await withWireIssuePaths(body, () =>
      keys.patch(keyID, patchFromWire(body) as DefinitionPatch, patchOptions),
    );
    printChange(io, format, { action: 'modified', result, body });
    return wait.finish(gateways, keyID);
  });
}

/** A command that changes one key without a definition of the caller. */
interface ChangeDeclaration extends Pick<CLICommand, 'alias' | 'summary' | 'description' | 'options'> {
  readonly name: `keys ${string}`;
  readonly example: string;
  readonly action: 'modified' | 'deleted' | 'restored' | 'rotation_canceled';
  /** Makes the change from the options, before the key is accessed. */
  readonly changeFrom: (options: OptionValues) => (keys: KeyClient, keyID: string) => Promise<KeyChangeResult>;
  /** The question before the change. */
  readonly question?: (keys: KeyClient, keyID: string, typed: string | undefined) => Promise<string>;
}

function changeCommand(declaration: ChangeDeclaration): CLICommand {
  const { name, alias, summary, description, example, options: own, action, changeFrom, question } = declaration;
  return {
    name,
    ...(alias !== undefined && { alias }),
    summary,
    description: `${description} ${keyLocation}`,
    arguments: ['[KEY_ID]'],
    options: {
      ...own,
      ...waitOptions,
      reason: reasonOption,
      actor: actorOption,
      ...(question && { yes: yesOption }),
      ...keyOptions,
    },
    exitCodes: { ...changeExitCodes, ...waitExitCodes },
    examples: [example],
    errorExitCode: 2,
    run: async (io, options, args) => {
      const change = changeFrom(options);
      const wait = waitFrom(io, options);
      return runKeyCommand({ io, command: name, options, args }, async ({ keys, gateways, format, keyID }) => {
        await wait.prepare(gateways, keyID);
        if (question && !(await confirm(io, options, () => question(keys, keyID, args[0]))))
          return notConfirmedExitCode;
        const result = await withWireIssuePaths(null, () => change(keys, keyID));
        printChange(io, format, { action, result, body: null });
        return wait.finish(gateways, keyID);
      });
    },
  };
}

export const deleteCommand = changeCommand({
  name: 'keys delete',
  alias: 'delete',
  summary: 'Delete a key',
  description: `${gatewayEffect} \`keys restore\` restores the key for the days of KEYFRONT_RESTORE_DAYS; after them it is purged with its history.`,
  options: { 'expected-version': expectedVersionOption },
  example: 'keyfront keys delete acme-billing --reason "contract ended"',
  action: 'deleted',
  changeFrom: (options) => {
    const changeOptions = changeOptionsFrom(options);
    return async (keys, keyID) => keys.delete(keyID, changeOptions);
  },
  question: questionOf,
});

/** Names the key; its identifier only if the arguments do, because it may be a token. */
async function questionOf(keys: KeyClient, keyID: string, typed: string | undefined): Promise<string> {
  const key = await keys.find({ keyID });
  if (!key) throw keyNotFound();
  const name = typed === keyID ? keyID : shortHash(key.keyHash);
  const alias = key.alias === undefined ? '' : ` (${key.alias})`;
  return `Delete key ${printable(`${name}${alias} of ${key.orgID}`)}? ${gatewayEffect}`;
}

export const restoreKeyCommand = changeCommand({
  name: 'keys restore',
  alias: 'undelete',
  summary: 'Restore a deleted key',
  description: 'Possible for the days of KEYFRONT_RESTORE_DAYS after `keys delete`.',
  options: { 'expected-version': expectedVersionOption },
  example: 'keyfront keys restore acme-billing',
  action: 'restored',
  changeFrom: (options) => {
    const changeOptions = changeOptionsFrom(options);
    return async (keys, keyID) => keys.restore(keyID, changeOptions);
  },
});

export const rotateKeyCommand: CLICommand = {
  name: 'keys rotate',
  alias: 'rotate',
  summary: 'Give a key a new identifier, and print the identifier',
  description: `During the overlap both identifiers are accepted, and are the same key with one version, one history and one quota; then the old one is rejected. The new identifier is generated as by \`keys create\`. As text, standard output contains only the identifier. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    overlap: {
      value: '24h',
      description:
        'How long the old identifier is accepted, at most 90d; 0, for one that leaked, rejects it immediately (default 24h)',
    },
    silence: {
      value: '24h',
      description:
        'Retire the old identifier earlier: when the new one was used, and it had no request for this time (default: at the end of the overlap)',
    },
    prefix: {
      value: 'TEXT',
      description: 'Readable beginning of the new identifier, such as acme_live_ (default: the organization)',
    },
    'expected-version': expectedVersionOption,
    ...waitOptions,
    reason: reasonOption,
    actor: actorOption,
    ...keyOptions,
  },
  exitCodes: { ...changeExitCodes, ...waitExitCodes },
  examples: ['keyfront keys rotate acme-billing --overlap 7d --reason "yearly rotation"'],
  run: rotate,
  errorExitCode: 2,
};

async function rotate(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const silenceMs = parseDuration('--silence', options['silence']);
  const rotateOptions = {
    ...changeOptionsFrom(options),
    overlapSeconds: parseOverlap(options) / 1000,
    silenceSeconds: silenceMs === undefined ? undefined : silenceMs / 1000,
    keyIDPrefix: stringOption(options, 'prefix'),
  };
  const wait = waitFrom(io, options);
  return runKeyCommand({ io, command: 'keys rotate', options, args }, async ({ keys, gateways, format, keyID }) => {
    await wait.prepare(gateways, keyID);
    const rotated = await keys.rotate(keyID, rotateOptions);
    const { keyID: key, retiresAt } = rotated;
    if (format.isJSON) {
      const retirement = { retires_at: retiresAt ?? null };
      io.stdout(`${toJSONLine({ action: 'rotated', key, ...retirement, ...changeResultToJSON(rotated, null) })}\n`);
    } else {
      const end = retiresAt === undefined ? 'is rejected' : `is accepted until ${retiresAt}`;
      io.stdout(`${key}\n`);
      io.stderr(`Rotated (version ${rotated.version}). The old identifier ${end}.\n`);
    }
    return wait.finish(gateways, key);
  });
}

export const cancelRotationCommand = changeCommand({
  name: 'keys cancel-rotation',
  alias: 'cancel-rotation',
  summary: 'Cancel a rotation: the old identifier stays, and the new one is rejected',
  description: 'Possible until the old identifier is rejected. KEY_ID is either of both.',
  options: { 'expected-version': expectedVersionOption },
  example: 'keyfront keys cancel-rotation acme-billing',
  action: 'rotation_canceled',
  changeFrom: (options) => {
    const changeOptions = changeOptionsFrom(options);
    return async (keys, keyID) => keys.cancelRotation(keyID, changeOptions);
  },
});

export const revertCommand = changeCommand({
  name: 'keys revert',
  alias: 'revert',
  summary: 'Revert a key to an earlier version by creating a new version',
  description: 'Secrets and the live quota stay unchanged.',
  options: {
    to: { value: 'VERSION', description: 'Version whose definition is restored', isRequired: true },
    'expected-version': expectedVersionOption,
  },
  example: 'keyfront keys revert acme-billing --to 2',
  action: 'modified',
  changeFrom: (options) => {
    const toVersion = parseNumberOption(options, 'to') ?? 0;
    const changeOptions = changeOptionsFrom(options);
    return async (keys, keyID) => keys.revert(keyID, toVersion, changeOptions);
  },
});

export const resetCommand = changeCommand({
  name: 'keys reset',
  alias: 'reset',
  summary: 'Reset the live quota of a key',
  description: 'The definition stays unchanged.',
  example: 'keyfront keys reset acme-billing --reason "paid in advance"',
  action: 'modified',
  changeFrom: (options) => {
    const reason = stringOption(options, 'reason');
    return async (keys, keyID) => keys.patch(keyID, {}, { resetQuota: true, reason });
  },
});
