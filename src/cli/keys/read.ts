import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionToWire, definitionFromWire } from '../../wire/field-names.js';
import {
  formatLiveQuota,
  liveQuotaToJSON,
  changeResultToJSON,
  formatChangeResult,
  hasNoEffect,
  withoutResetFields,
} from '../changes.js';
import {
  cannotAccess,
  keyLocation,
  keyOptions,
  runKeyCommand,
  definitionFile,
  resetQuotaOption,
} from '../client/run.js';
import type { CLICommand, OptionValues } from '../command.js';
import { readDefinitionObject } from '../definitions.js';
import type { IO } from '../io.js';
import { toJSONLine, toIndentedJSON } from '../output.js';

export const getCommand: CLICommand = {
  name: 'keys get',
  alias: 'get',
  summary: 'Print the definition of a key, without secrets',
  description: `\`keys put\` accepts the output, which is JSON with or without --json. The version and the live quota are printed to standard error; with --json, they are in the output. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: { deleted: { description: 'Also find a deleted key, until it is purged' }, ...keyOptions },
  exitCodes: { 1: 'there is no such key', 2: cannotAccess },
  examples: ['keyfront keys get acme-billing > billing.json'],
  run: get,
  errorExitCode: 2,
};

async function get(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const includeDeleted = options['deleted'] === true;
  const call = { io, command: 'keys get', options, args, access: 'read' } as const;
  return runKeyCommand(call, async ({ keys, format, keyID }) => {
    const { definition, version, keyHash, state, quota } = await keys.read(keyID, { includeDeleted });
    const data = definitionToWire(definition);
    if (format.isJSON) {
      const live = quota ? liveQuotaToJSON(quota) : null;
      io.stdout(`${toJSONLine({ key_hash: keyHash, version, state, data, quota: live })}\n`);
      return 0;
    }
    io.stdout(`${toIndentedJSON(data)}\n`);
    const deleted = state === 'DELETED' ? ', deleted' : '';
    io.stderr(
      `Version ${version} of ${printable(keyHash)}${deleted}, without secrets.\nLive quota: ${formatLiveQuota(quota)}.\n`,
    );
    return 0;
  });
}

export const diffCommand: CLICommand = {
  name: 'keys diff',
  alias: 'diff',
  summary: 'Show the field-level changes that an update would make',
  description: `Changes nothing. A \`quota_remaining\` and \`quota_renews\` that a reset has stored and FILE omits are no difference. ${definitionFile}`,
  arguments: ['[KEY_ID]', 'FILE'],
  options: { 'reset-quota': resetQuotaOption, ...keyOptions },
  exitCodes: { 0: 'no differences', 1: 'differences', 2: `rejected, ${cannotAccess}` },
  examples: ['keyfront keys diff acme-billing billing.json --url https://keys.example.com'],
  run: diff,
  errorExitCode: 2,
};

async function diff(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const resetQuota = options['reset-quota'] === true;
  const call = {
    io,
    command: 'keys diff',
    options,
    args,
    argsAfterKey: 1,
    rejectedExitCode: 2,
    access: 'read',
  } as const;
  return runKeyCommand(call, async ({ keys, format, keyID, args: [file = ''] }) => {
    const body = await readDefinitionObject(io, file);
    const prediction = await withWireIssuePaths(body, () =>
      keys.previewUpdate(keyID, definitionFromWire(body), { resetQuota }),
    );
    const result = withoutResetFields(prediction);
    const same = hasNoEffect(result);
    if (format.isJSON) io.stdout(`${toJSONLine({ same, ...changeResultToJSON(result, body) })}\n`);
    else io.stdout(`${formatChangeResult(format, result, body)}${same ? 'No differences.\n' : ''}`);
    return same ? 0 : 1;
  });
}
