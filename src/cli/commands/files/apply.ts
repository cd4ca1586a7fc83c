import { parseDefinition } from '../../../keys/definition/parse.js';
import { AppError, errorCodeOf, type ErrorCode } from '../../../lib/errors.js';
import { printable } from '../../../lib/text.js';
import { withWireIssuePaths } from '../../../rest/json-body.js';
import { definitionFromWire } from '../../../wire/field-names.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { actorOption } from '../../input/actor.js';
import { confirm, yesOption } from '../../input/confirm.js';
import { readDefinitionFolder, type DesiredKey } from '../../input/definition-folder.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import { UsageError, type IO } from '../../io.js';
import { keyLocation, keysOptions, reasonOption } from '../../key-client/options.js';
import type { KeyChangeResult, KeyClient, ListedKey } from '../../key-client/port.js';
import { runKeysCommand, stringOption } from '../../key-client/run-key-command.js';
import { changeResultToJSON, formatChangeResult, hasNoEffect, withoutResetFields } from '../../output/diff.js';
import { formatProblems, problemsOf, type OutputFormat } from '../../output/format.js';
import { toJSONLine } from '../../output/json.js';

export const applyCommand: CLICommand = {
  name: 'apply',
  summary: 'Make keys match the definitions in a folder',
  description: `Creates, updates and, with --prune, deletes keys. The JSON and JSON Lines files of DIR and its subfolders contain definitions with their \`key_id\`. Keys that match stay as they are. Secrets that a file omits stay, and fields that a reset has stored are no difference; a password always is one. A key that changes between its comparison and its update is rejected. ${keyLocation}`,
  arguments: ['DIR'],
  options: {
    plan: { description: 'Print what would change, and change nothing' },
    prune: { description: 'Also delete the keys of --org that no file defines; `undelete` restores them' },
    org: { value: 'ID', description: 'Owner of new keys whose file has no org_id' },
    reason: reasonOption,
    actor: actorOption,
    yes: yesOption,
    ...keysOptions,
  },
  exitCodes: {
    0: 'no changes, or all are applied',
    1: 'invalid usage, no access, or some keys were rejected; the others are applied',
    2: 'only with --plan: there are changes',
  },
  examples: ['keyfront apply keys/ --plan --url https://keys.example.com', 'keyfront apply keys/ --org acme --prune'],
  environment: keyVariables,
  run: apply,
  usageExitCode: 1,
};

/** The action for one key. */
interface PlannedAction {
  readonly action: 'create' | 'update' | 'delete' | 'none';
  /** The location of the definition, or the hash of a key that is deleted. */
  readonly subject: string;
  /** Undefined for a new key. */
  readonly keyHash?: string;
  /** The predicted changes of an update. */
  readonly changes?: { readonly result: KeyChangeResult; readonly body: DesiredKey['body'] };
  readonly run: () => Promise<unknown>;
}

/** Codes of errors that concern one key. Any other error would repeat for the next keys. */
const keyErrors: ReadonlySet<ErrorCode> = new Set(['INVALID', 'NOT_FOUND', 'CONFLICT', 'TOO_LARGE', 'FORBIDDEN']);

async function apply(io: IO, options: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  const [isPlan, prunes] = [options['plan'] === true, options['prune'] === true];
  const orgID = parseOrgIDOption(options['org']);
  if (prunes && orgID === undefined) throw new UsageError('--prune requires --org, whose other keys it deletes.');
  const reason = stringOption(options, 'reason');
  const call = { io, command: 'apply', options, accessErrorExitCode: 1 };
  return runKeysCommand(call, async ({ keys, format }) => {
    const counts = { create: 0, update: 0, delete: 0, none: 0, rejected: 0 };
    const definedHashes = new Set<string>();
    const applyOne = async (subject: string, plan: () => Promise<PlannedAction> | PlannedAction): Promise<void> => {
      try {
        const planned = await plan();
        if (planned.keyHash !== undefined) definedHashes.add(planned.keyHash);
        if (!isPlan) await planned.run();
        counts[planned.action] += 1;
        if (planned.action !== 'none') printAction(io, format, planned, isPlan);
      } catch (error) {
        if (!(error instanceof AppError) || !keyErrors.has(error.code)) throw error;
        counts.rejected += 1;
        printRejection(io, format, subject, error);
      }
    };
    for (const key of await readDefinitionFolder(io, folder)) {
      await applyOne(key.location, () => planAction(keys, key, { orgID, reason }));
    }
    // A rejected definition may belong to a key that would be deleted.
    if (prunes && orgID !== undefined && counts.rejected === 0) {
      const surplus = (await keysOf(keys, orgID)).filter(({ keyHash }) => !definedHashes.has(keyHash));
      const question = `Delete the keys of ${orgID} that no file defines (${surplus.length})?`;
      const deletes = isPlan || surplus.length === 0 || (await confirm(io, options, question));
      for (const key of deletes ? surplus : []) await applyOne(key.keyHash, () => planDeletion(keys, key, reason));
    }
    io.stderr(summaryOf(counts, isPlan));
    if (counts.rejected > 0) return 1;
    return isPlan && counts.create + counts.update + counts.delete > 0 ? 2 : 0;
  });
}

/** Compares a definition with the stored key. */
async function planAction(
  keys: KeyClient,
  { location: subject, keyID, body }: DesiredKey,
  { orgID, reason }: { readonly orgID: string | undefined; readonly reason: string | undefined },
): Promise<PlannedAction> {
  return withWireIssuePaths(body, async () => {
    const definition = definitionFromWire(body);
    try {
      const prediction = await keys.previewUpdate(keyID, definition, { resetQuota: false });
      const result = withoutResetFields(prediction);
      const { keyHash } = result;
      if (hasNoEffect(result)) return { action: 'none', subject, keyHash, run: () => Promise.resolve() };
      // The prediction is the version after the update.
      const update = { resetQuota: false, expectedVersion: prediction.version - 1, reason };
      const run = () => withWireIssuePaths(body, () => keys.update(keyID, definition, update));
      return { action: 'update', subject, keyHash, changes: { result, body }, run };
    } catch (error) {
      if (errorCodeOf(error) !== 'NOT_FOUND') throw error;
    }
    const { org_id: owner = null } = body;
    const complete = definitionFromWire(owner === null || owner === '' ? { ...body, org_id: orgID } : body);
    parseDefinition('update', complete);
    const run = () => withWireIssuePaths(body, () => keys.create(keyID, complete, { reason }));
    return { action: 'create', subject, run };
  });
}

function planDeletion(keys: KeyClient, { keyHash, version }: ListedKey, reason: string | undefined): PlannedAction {
  const run = async () => keys.delete(await keys.keyIDOf(keyHash), { expectedVersion: version, reason });
  return { action: 'delete', subject: keyHash, run };
}

/** Reads all keys of an organisation, before the first deletion changes the pages. */
async function keysOf(keys: KeyClient, orgID: string): Promise<ListedKey[]> {
  const found: ListedKey[] = [];
  let after: string | undefined;
  do {
    const page = await keys.list({ orgID }, pageSize, after);
    // Nothing shows whether a file defines a damaged key.
    if (page.unreadable.length > 0) throw new AppError('INTERNAL', 'A key of the organisation is damaged.');
    found.push(...page.keys);
    after = page.next;
  } while (after !== undefined);
  return found;
}

const pageSize = 100;

function printAction(io: IO, format: OutputFormat, { action, subject, changes }: PlannedAction, isPlan: boolean): void {
  if (format.isJSON) {
    const details = changes && changeResultToJSON(changes.result, changes.body);
    return io.stdout(`${toJSONLine({ action, subject, applied: !isPlan, ...details })}\n`);
  }
  const paint = { create: format.paint.green, update: format.paint.yellow, delete: format.paint.red, none: String };
  const details = changes ? formatChangeResult(format, changes.result, changes.body) : '';
  io.stdout(`${paint[action](action)} ${printable(subject)}\n${details}`);
}

function printRejection(io: IO, format: OutputFormat, subject: string, error: AppError): void {
  const issues = problemsOf(error);
  if (format.isJSON) io.stdout(`${toJSONLine({ action: 'rejected', subject, code: error.code, issues })}\n`);
  io.stderr(
    `${printable(subject)}: ${format.paint.red(error.code)}: ${printable(error.message)}\n${format.isJSON ? '' : formatProblems(format, 'error', issues)}`,
  );
}

function summaryOf(counts: Readonly<Record<PlannedAction['action'] | 'rejected', number>>, isPlan: boolean): string {
  const changes = (['create', 'update', 'delete'] as const).map((action) =>
    isPlan ? `${counts[action]} to ${action}` : `${counts[action]} ${action}d`,
  );
  return `${isPlan ? 'Plan' : 'Applied'}: ${changes.join(', ')}, ${counts.none} unchanged, ${counts.rejected} rejected.\n`;
}
