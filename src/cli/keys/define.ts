import type { DefinitionPatch } from '../../keys/definition/patch.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire, patchFromWire } from '../../wire/field-names.js';
import { changeResultToJSON, formatWarnings, printChange, withoutResetFields } from '../changes.js';
import { type KeyChangeResult, type KeyClient, type UpdateOptions } from '../client/operations.js';
import {
  changeExitCodes,
  definitionFile,
  keysOptions,
  reasonOption,
  runKeysCommand,
  stringOption,
  expectedVersionOption,
  resetQuotaOption,
  updateOptionsFrom,
  runKeyCommand,
  keyLocation,
} from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { readDefinitionObject } from '../definitions.js';
import { actorOption, parseOrgIDOption } from '../input.js';
import { waitFrom } from '../gateways.js';
import { type IO, UsageError } from '../io.js';
import { toJSONLine } from '../output.js';
import { keyChangeExitCodes, keyChangeOptions } from './change-options.js';
import { proposeOptions, proposerFrom } from './propose.js';

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
    ...proposeOptions,
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
  const proposer = proposerFrom(io, options);
  return runKeysCommand({ io, command: 'keys create', options }, async (context) => {
    const { keys, format } = context;
    const body = await readDefinitionObject(io, file);
    const definition = definitionFromWire({ ...(orgID !== undefined && { org_id: orgID }), ...Object(body) });
    if (proposer) {
      const { keyIDPrefix } = createOptions;
      return proposer.propose(context, undefined, { kind: 'CREATE', definition, keyIDPrefix }, body);
    }
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
    ...keyChangeOptions(),
  },
  exitCodes: keyChangeExitCodes,
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
  const proposer = proposerFrom(io, options);
  const call = { io, command: 'keys put', options, args, argsAfterKey: 1 };
  return runKeyCommand(call, async (context) => {
    const {
      keys,
      gateways,
      format,
      keyID,
      args: [file = ''],
    } = context;
    await wait.prepare(gateways, keyID);
    const body = await readDefinitionObject(io, file);
    const definition = definitionFromWire(body);
    if (proposer) {
      const { resetQuota } = updateOptions;
      return proposer.propose(context, keyID, { kind: 'UPDATE', definition, resetQuota }, body);
    }
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
    ...keyChangeOptions(),
  },
  exitCodes: keyChangeExitCodes,
  examples: ['keyfront keys patch acme-billing rate.json --reason "raised limits, OPS-17"'],
  run: patch,
  errorExitCode: 2,
};

async function patch(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const patchOptions = updateOptionsFrom(options);
  const wait = waitFrom(io, options);
  const proposer = proposerFrom(io, options);
  const call = { io, command: 'keys patch', options, args, argsAfterKey: 1 };
  return runKeyCommand(call, async (context) => {
    const {
      keys,
      gateways,
      format,
      keyID,
      args: [file = ''],
    } = context;
    await wait.prepare(gateways, keyID);
    const body = await readDefinitionObject(io, file);
    const fields = patchFromWire(body) as DefinitionPatch;
    if (proposer) {
      const { resetQuota } = patchOptions;
      return proposer.propose(context, keyID, { kind: 'PATCH', patch: fields, resetQuota }, body);
    }
    const result = await withWireIssuePaths(body, () => keys.patch(keyID, fields, patchOptions));
    printChange(io, format, { action: 'modified', result, body });
    return wait.finish(gateways, keyID);
  });
}
