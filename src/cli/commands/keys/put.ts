import { AppError, errorCodeOf } from '../../../lib/errors.js';
import { withWireIssuePaths } from '../../../rest/json-body.js';
import { definitionFromWire } from '../../../wire/field-names.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { readDefinitionObject } from '../../input/definitions.js';
import { actorOption } from '../../input/actor.js';
import { UsageError, type IO } from '../../io.js';
import {
  changeExitCodes,
  definitionFile,
  expectedVersionOption,
  keyOptions,
  reasonOption,
  resetQuotaOption,
} from '../../key-client/options.js';
import { changeOptionsFrom, runKeyCommand } from '../../key-client/run-key-command.js';
import type { KeyChangeResult, KeyClient, UpdateOptions } from '../../key-client/port.js';
import { printChange, withoutResetFields } from '../../output/diff.js';

export const putCommand: CLICommand = {
  name: 'put',
  summary: 'Replace the definition of a key',
  description: `Secrets that the new definition omits stay unchanged. A definition that the key has already makes no new version; as for \`diff\`, what a reset has stored is no difference. ${definitionFile}`,
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
  examples: ['keyfront put acme-billing billing.json --expected-version 3 --reason "raised limits, OPS-17"'],
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
  const call = { io, command: 'put', options, args, argsAfterKey: 1 };
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
