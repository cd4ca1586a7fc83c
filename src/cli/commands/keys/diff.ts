import { withWireIssuePaths } from '../../../rest/json-body.js';
import { definitionFromWire } from '../../../wire/field-names.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { readDefinitionObject } from '../../input/definitions.js';
import type { IO } from '../../io.js';
import { cannotAccess, definitionFile, keyOptions, resetQuotaOption } from '../../key-client/options.js';
import { runKeyCommand } from '../../key-client/run-key-command.js';
import { changeResultToJSON, formatChangeResult, hasNoEffect, withoutResetFields } from '../../output/diff.js';
import { toJSONLine } from '../../output/json.js';

export const diffCommand: CLICommand = {
  name: 'diff',
  summary: 'Show the field-level changes that an update would make',
  description: `Changes nothing. A \`quota_remaining\` and \`quota_renews\` that a reset has stored and FILE omits are no difference. ${definitionFile}`,
  arguments: ['[KEY_ID]', 'FILE'],
  options: { 'reset-quota': resetQuotaOption, ...keyOptions },
  exitCodes: { 0: 'no differences', 1: 'differences', 2: `rejected, ${cannotAccess}` },
  examples: ['keyfront diff acme-billing billing.json --url https://keys.example.com'],
  environment: keyVariables,
  run: diff,
  errorExitCode: 2,
};

async function diff(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const resetQuota = options['reset-quota'] === true;
  const call = { io, command: 'diff', options, args, argsAfterKey: 1, rejectedExitCode: 2 };
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
