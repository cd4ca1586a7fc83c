import { normalizeDefinition, secretPaths, type SecretName } from '../../keys/definition/normalize.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import { definitionChanges } from '../../keys/key-diff.js';
import type { FieldChange } from '../../keys/key.js';
import { AppError, type ErrorCode } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire } from '../../wire/field-names.js';
import {
  changeResultToJSON,
  changeToJSON,
  formatChangeResult,
  formatChanges,
  hasNoEffect,
  shortHash,
  withoutResetFields,
} from '../changes.js';
import {
  keyNotFound,
  type FoundKey,
  type KeyChangeResult,
  type KeyClient,
  type ListedKey,
} from '../client/operations.js';
import { identifierOf, keyLocation, keysOptions, reasonOption, runKeysCommand, stringOption } from '../client/run.js';
import { type CLICommand, type OptionValues } from '../command.js';
import { readDefinitionFolder, type DesiredKey } from '../definitions.js';
import { actorOption, confirm, gatewayEffect, notConfirmedExitCode, yesOption, parseOrgIDOption } from '../input.js';
import { UsageError, type IO } from '../io.js';
import { formatProblems, problemsOf, type OutputFormat, toJSONLine } from '../output.js';
import { forEachKey } from './list.js';

export const applyCommand: CLICommand = {
  name: 'keys apply',
  alias: 'apply',
  summary: 'Make keys match the definitions in a folder',
  description: `Creates, updates, restores and, with --prune, deletes keys. The JSON, JSON Lines and YAML files of DIR and its subfolders contain definitions with their \`key_id\`; files of other types are named and not read. First compares all of them, prints the plan, and requires confirmation on a terminal before it deletes; then carries out exactly this plan. A key that changes meanwhile is rejected. Secrets that a file omits stay, and fields that a reset has stored are no difference; a password always is one. ${keyLocation}`,
  arguments: ['DIR'],
  options: {
    plan: { description: 'Print the plan, and change nothing' },
    prune: { description: 'Also delete the keys of --org that no file defines; they can be restored' },
    org: { value: 'ID', description: 'Owner of new keys whose file has no org_id' },
    reason: reasonOption,
    actor: actorOption,
    yes: yesOption,
    ...keysOptions,
  },
  exitCodes: {
    0: 'no changes, or all are applied',
    1: 'invalid usage, no access, not confirmed, or some keys were rejected; the others are applied',
    2: 'only with --plan: there are changes',
  },
  examples: [
    'keyfront keys apply keys/ --plan --url https://keys.example.com',
    'keyfront keys apply keys/ --org acme --prune',
  ],
  run: apply,
  usageExitCode: 1,
};

/** One change of the plan. */
interface PlannedChange {
  readonly action: 'create' | 'update' | 'restore' | 'delete';
  /** The location of the definition; undefined for a key that is deleted. */
  readonly file?: string;
  readonly alias: string | undefined;
  /** Undefined for a new key of a service, which alone can compute it. */
  readonly keyHash: string | undefined;
  readonly changes: readonly FieldChange[];
  /** The prediction for a key that exists, with the definition as the file has it. */
  readonly prediction?: { readonly result: KeyChangeResult; readonly body: DesiredKey['body'] };
  readonly run: () => Promise<unknown>;
}

interface Plan {
  readonly changes: readonly PlannedChange[];
  readonly unchanged: number;
}

/** Codes of errors that concern one key. Any other error would repeat for the next keys. */
const keyErrors: ReadonlySet<ErrorCode> = new Set(['INVALID', 'NOT_FOUND', 'CONFLICT', 'TOO_LARGE', 'FORBIDDEN']);

async function apply(io: IO, options: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  const [isPlan, prunes] = [options['plan'] === true, options['prune'] === true];
  const orgID = parseOrgIDOption(options['org']);
  if (prunes && orgID === undefined) throw new UsageError('--prune requires --org, whose other keys it deletes.');
  const reason = stringOption(options, 'reason');
  const call = {
    io,
    command: 'keys apply',
    options,
    access: isPlan ? 'read' : 'write',
    accessErrorExitCode: 1,
  } as const;
  return runKeysCommand(call, async ({ keys, format }) => {
    let rejected = 0;
    const orRejection = async <T>(file: string, work: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof AppError) || !keyErrors.has(error.code)) throw error;
        rejected += 1;
        printRejection(io, format, file, error);
        return undefined;
      }
    };
    const plan = await makePlan(keys, await readDefinitionFolder(io, folder), { orgID, reason }, orRejection);
    // A rejected definition may belong to a key that would be deleted.
    const surplus = prunes && orgID !== undefined && rejected === 0 ? await plan.surplusOf(orgID) : [];
    const changes = [...plan.changes, ...surplus];
    if (isPlan || !format.isJSON) for (const change of changes) printChange(io, format, change, false);
    if (isPlan) {
      io.stderr(summaryOf(changes, { ...plan, rejected, isPlan }));
      return rejected > 0 ? 1 : changes.length > 0 ? 2 : 0;
    }
    if (surplus.length > 0 && !(await confirmDeletion(io, options, format, { orgID, surplus }))) {
      return notConfirmedExitCode;
    }
    const applied: PlannedChange[] = [];
    for (const change of changes) {
      const isApplied = await orRejection(change.file ?? change.keyHash ?? '', async () => {
        await change.run();
        return true;
      });
      if (isApplied !== true) continue;
      applied.push(change);
      if (format.isJSON) printChange(io, format, change, true);
    }
    io.stderr(summaryOf(applied, { ...plan, rejected, isPlan }));
    return rejected > 0 ? 1 : 0;
  });
}

interface ApplyOptions {
  readonly orgID: string | undefined;
  readonly reason: string | undefined;
}

/** Compares every definition with its key, and changes nothing. `surplusOf` plans the deletion of the other keys. */
async function makePlan(
  keys: KeyClient,
  desired: readonly DesiredKey[],
  options: ApplyOptions,
  orRejection: <T>(file: string, work: () => Promise<T>) => Promise<T | undefined>,
): Promise<Plan & { readonly surplusOf: (orgID: string) => Promise<PlannedChange[]> }> {
  const changes: PlannedChange[] = [];
  const definedHashes = new Set<string>();
  let unchanged = 0;
  for (const key of desired) {
    await orRejection(key.location, () =>
      withWireIssuePaths(key.body, async () => {
        const stored = await keys.find({ keyID: key.keyID });
        if (stored) definedHashes.add(stored.keyHash);
        const change = stored ? await planChange(keys, key, stored, options) : planCreation(keys, key, options);
        if (change) changes.push(change);
        else unchanged += 1;
      }),
    );
  }
  const surplusOf = async (orgID: string) =>
    (await keysOf(keys, orgID))
      .filter(({ keyHash }) => !definedHashes.has(keyHash))
      .map((key) => planDeletion(keys, key, options));
  return { changes, unchanged, surplusOf };
}

/** Plans the update of a key, or its restoration if it is deleted; undefined if it has the definition already. */
async function planChange(
  keys: KeyClient,
  { location: file, keyID, body }: DesiredKey,
  { keyHash, version, state, alias }: FoundKey,
  { reason }: ApplyOptions,
): Promise<PlannedChange | undefined> {
  const definition = definitionFromWire(body);
  const preview = { resetQuota: false, expectedVersion: version, includeDeleted: true };
  const result = withoutResetFields(await keys.previewUpdate(keyID, definition, preview));
  const isDeleted = state === 'DELETED';
  const differs = !hasNoEffect(result);
  if (!isDeleted && !differs) return undefined;
  const run = () =>
    withWireIssuePaths(body, async () => {
      const restored = isDeleted ? await keys.restore(keyID, { expectedVersion: version, reason }) : undefined;
      if (!differs) return;
      await keys.update(keyID, definition, {
        resetQuota: false,
        expectedVersion: restored?.version ?? version,
        reason,
      });
    });
  const action = isDeleted ? 'restore' : 'update';
  const { changes } = result;
  return { action, file, alias: aliasOf(body) ?? alias, keyHash, changes, prediction: { result, body }, run };
}

function planCreation(
  keys: KeyClient,
  { location: file, keyID, body }: DesiredKey,
  { orgID, reason }: ApplyOptions,
): PlannedChange {
  const { org_id: owner = null } = body;
  const complete = definitionFromWire(owner === null || owner === '' ? { ...body, org_id: orgID } : body);
  const { definition, secrets } = normalizeDefinition(parseDefinition('update', complete));
  const changes = [...definitionChanges({}, definition), ...secretsSet(secrets)];
  const run = () => withWireIssuePaths(body, () => keys.create(keyID, complete, { reason }));
  return { action: 'create', file, alias: aliasOf(body), keyHash: keys.hashOf(keyID), changes, run };
}

function secretsSet(secrets: Partial<Record<SecretName, string | null>>): FieldChange[] {
  const set = (Object.keys(secretPaths) as SecretName[]).filter((name) => typeof secrets[name] === 'string');
  return set.map((name) => ({ path: secretPaths[name], kind: 'SET' }));
}

function planDeletion(keys: KeyClient, key: ListedKey, { reason }: ApplyOptions): PlannedChange {
  const { keyHash, version, alias } = key;
  const run = async () => {
    const found = await keys.find({ keyHash });
    if (!found) throw keyNotFound();
    return keys.delete(identifierOf(found), { expectedVersion: version, reason });
  };
  return { action: 'delete', alias, keyHash, changes: [], run };
}

function aliasOf({ alias }: DesiredKey['body']): string | undefined {
  return typeof alias === 'string' ? alias : undefined;
}

/** Reads all keys of an organization, before the first deletion changes the pages. */
async function keysOf(keys: KeyClient, orgID: string): Promise<ListedKey[]> {
  const found: ListedKey[] = [];
  // Nothing shows whether a file defines a damaged key.
  const skip = () => {
    throw new AppError('INTERNAL', 'A key of the organization is damaged.');
  };
  await forEachKey(keys, { filter: { orgID }, orderBy: 'KEY_HASH' }, Infinity, skip, (key) => void found.push(key));
  return found;
}

/** Shows what is deleted before the question: with --json, the plan has not been printed yet. */
async function confirmDeletion(
  io: IO,
  options: OptionValues,
  format: OutputFormat,
  { orgID = '', surplus }: { readonly orgID: string | undefined; readonly surplus: readonly PlannedChange[] },
): Promise<boolean> {
  if (format.isJSON) for (const change of surplus) io.stderr(formatPlanned({ ...format, isJSON: false }, change));
  const keys = surplus.length === 1 ? 'this key' : `these ${surplus.length} keys`;
  return confirm(io, options, () => `Apply this plan, and delete ${keys} of ${printable(orgID)}? ${gatewayEffect}`);
}

function printChange(io: IO, format: OutputFormat, change: PlannedChange, isApplied: boolean): void {
  if (!format.isJSON) return io.stdout(formatPlanned(format, change));
  const { action, file = null, alias = null, keyHash, changes, prediction } = change;
  const details = prediction
    ? changeResultToJSON(prediction.result, prediction.body)
    : { key_hash: keyHash ?? null, changes: changes.map(changeToJSON) };
  io.stdout(`${toJSONLine({ action, file, alias, applied: isApplied, ...details })}\n`);
}

/** One line with the file, the alias and the short hash, then one for each changed field. */
function formatPlanned(
  format: OutputFormat,
  { action, file, alias, keyHash, changes, prediction }: PlannedChange,
): string {
  const { bold, green, yellow, red } = format.paint;
  const paint = { create: green, update: yellow, restore: green, delete: red };
  const place = file ?? '(no file)';
  const name = [alias, keyHash === undefined ? '(new key)' : shortHash(keyHash)].filter(Boolean).join('  ');
  const details = prediction
    ? formatChangeResult(format, prediction.result, prediction.body)
    : formatChanges(format, changes);
  return `${paint[action](action.padEnd(7))} ${printable(place)}  ${bold(printable(name))}\n${details}`;
}

function printRejection(io: IO, format: OutputFormat, file: string, error: AppError): void {
  const issues = problemsOf(error);
  if (format.isJSON) io.stdout(`${toJSONLine({ action: 'rejected', file, code: error.code, issues })}\n`);
  io.stderr(
    `${printable(file)}: ${format.paint.red(error.code)}: ${printable(error.message)}\n${format.isJSON ? '' : formatProblems(format, 'error', issues)}`,
  );
}

const participles = { create: 'created', update: 'updated', restore: 'restored', delete: 'deleted' };

function summaryOf(
  changes: readonly PlannedChange[],
  { unchanged, rejected, isPlan }: { unchanged: number; rejected: number; isPlan: boolean },
): string {
  const counted = (['create', 'update', 'restore', 'delete'] as const).map((action) => {
    const count = changes.filter((change) => change.action === action).length;
    return isPlan ? `${count} to ${action}` : `${count} ${participles[action]}`;
  });
  return `${isPlan ? 'Plan' : 'Applied'}: ${counted.join(', ')}, ${unchanged} unchanged, ${rejected} rejected.\n`;
}
