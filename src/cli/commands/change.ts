import { AppError } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { definitionFromWire } from '../../wire/field-names.js';
import { formatChangeResult, changeResultToJSON, hasNoEffect } from '../output/diff.js';
import type { OptionValues } from '../command.js';
import { readSingleDefinition } from '../input/definitions.js';
import { UsageError, type IO } from '../io.js';
import { toJSONLine } from '../output/json.js';
import type { KeyChangeResult, KeyClient } from '../key-client/port.js';
import type { OutputFormat } from '../output/format.js';
import { withWireNames, parseNumberOption, stringOption, runKeyCommand } from '../key-client/run-key-command.js';

/** Tells what an update would change: 0 nothing, 1 something, 2 where that cannot be told. */
export async function diff(io: IO, values: OptionValues, words: readonly string[]): Promise<number> {
  const call = { io, command: 'diff', values, words, others: 1, refused: 2 };
  const resetQuota = values['reset-quota'] === true;
  return runKeyCommand(call, async ({ keys, view, keyID, words: [file = ''] }) => {
    const body = await wholeDefinitionIn(io, file);
    const plan = await withWireNames(body, () => keys.previewUpdate(keyID, definitionFromWire(body), { resetQuota }));
    const same = hasNoEffect(plan);
    if (view.isJSON) io.stdout(`${toJSONLine({ same, ...changeResultToJSON(plan, body) })}\n`);
    else io.stdout(`${formatChangeResult(view, plan, body)}${same ? 'No difference.\n' : ''}`);
    return same ? 0 : 1;
  });
}

/** Replaces the definition of a key, or creates the key where that is asked for. */
export async function put(io: IO, values: OptionValues, words: readonly string[]): Promise<number> {
  const options = {
    resetQuota: values['reset-quota'] === true,
    expectedVersion: parseNumberOption(values, 'expected-version'),
    reason: stringOption(values, 'reason'),
  };
  const mayCreate = values['create'] === true;
  if (mayCreate && options.expectedVersion !== undefined) {
    throw new UsageError('--expected-version is about a key that exists, and --create about one that may not.');
  }
  return runKeyCommand(
    { io, command: 'put', values, words, others: 1 },
    async ({ keys, view, keyID, words: [file = ''] }) => {
      const body = await wholeDefinitionIn(io, file);
      const definition = definitionFromWire(body);
      const { action, changed } = await withWireNames(body, async () => {
        try {
          return { action: 'modified', changed: await keys.update(keyID, definition, options) };
        } catch (error) {
          if (!mayCreate || !(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
          return { action: 'added', changed: await keys.create(keyID, definition, { reason: options.reason }) };
        }
      });
      show(io, view, action, changed, body);
      return 0;
    },
  );
}

const mostAttempts = 5;

/** Resets the live quota of a key and leaves its definition as it is. */
export async function reset(io: IO, values: OptionValues, words: readonly string[]): Promise<number> {
  const reason = stringOption(values, 'reason');
  return runKeyCommand({ io, command: 'reset', values, words }, async ({ keys, view, keyID }) => {
    show(io, view, 'modified', await resetQuota(keys, keyID, reason), null);
    return 0;
  });
}

/** The definition is written as it was read: the version sees to it that nobody has changed it in between. */
async function resetQuota(keys: KeyClient, keyID: string, reason: string | undefined): Promise<KeyChangeResult> {
  for (let attempt = 1; ; attempt++) {
    const { definition, version } = await keys.read(keyID);
    try {
      return await keys.update(keyID, definition, { resetQuota: true, expectedVersion: version, reason });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'CONFLICT' || attempt === mostAttempts) throw error;
    }
  }
}

/** Puts the definition of an earlier version back, as a new version. */
export async function revert(io: IO, values: OptionValues, words: readonly string[]): Promise<number> {
  const toVersion = parseNumberOption(values, 'to');
  if (toVersion === undefined) throw new UsageError('--to must name the version whose definition is wanted.');
  const options = {
    expectedVersion: parseNumberOption(values, 'expected-version'),
    reason: stringOption(values, 'reason'),
  };
  return runKeyCommand({ io, command: 'revert', values, words }, async ({ keys, view, keyID }) => {
    show(io, view, 'modified', await withWireNames(null, () => keys.revert(keyID, toVersion, options)), null);
    return 0;
  });
}

function show(io: IO, view: OutputFormat, action: string, changed: KeyChangeResult, body: JSONValue): void {
  if (view.isJSON) io.stdout(`${toJSONLine({ action, ...changeResultToJSON(changed, body) })}\n`);
  else
    io.stdout(
      `${formatChangeResult(view, changed, body)}${view.paint.green(action)}: version ${changed.version} now.\n`,
    );
}

/** A definition that is at least an object, so that GraphQL takes it for one. */
async function wholeDefinitionIn(io: IO, file: string): Promise<JSONValue> {
  const body = await readSingleDefinition(io, file);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  const issue = { path: [], code: 'WRONG_TYPE', message: 'must be an object' };
  throw new AppError('INVALID', 'The key definition has a problem.', { issues: [issue] });
}
