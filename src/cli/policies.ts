import { parsePolicy } from '../keys/access/policy-definition.js';
import type { KnownPolicy, PolicyChange, PolicyVersion } from '../keys/access/policy-store.js';
import type { Policy } from '../keys/access/policy.js';
import { policyWarnings } from '../keys/access/policy-warnings.js';
import { definitionChanges } from '../keys/key-diff.js';
import type { FieldChange } from '../keys/key.js';
import { AppError } from '../lib/errors.js';
import { printable } from '../lib/text.js';
import { withWireIssuePaths } from '../rest/json-body.js';
import { issuesToWire, policyFromWire, policyToWire } from '../wire/field-names.js';
import { changeToJSON, formatChanges } from './changes.js';
import { withServices } from './client/open.js';
import type { CLICommand, OptionValues } from './command.js';
import { readDefinitions } from './definitions.js';
import { actorOption, confirm, localActor, notConfirmedExitCode, yesOption } from './input.js';
import type { IO } from './io.js';
import {
  countOf,
  formatProblems,
  formatTable,
  jsonOption,
  printJSONResult,
  problemsOf,
  selectOutputFormat,
  toJSONLine,
  type OutputFormat,
} from './output.js';

const fileFormat =
  'FILE contains policies with the field names of REST, as JSON, JSON Lines or YAML; `-` reads standard input. `policies list --json` prints the same format.';

export const importPoliciesCommand: CLICommand = {
  name: 'policies import',
  summary: 'Add the policies of a file, and replace those with the same identifiers',
  description: `All policies are imported, or none. Policies that are not in the file stay, except with --prune. Running services use them within a second. ${fileFormat}`,
  arguments: ['FILE'],
  options: {
    prune: { description: 'Also remove the policies that are not in the file' },
    'dry-run': { description: 'Show the changes, and store nothing' },
    actor: actorOption,
    json: jsonOption,
  },
  exitCodes: { 1: 'some policies are not valid; nothing is imported' },
  examples: ['keyfront policies import policies.jsonl', 'keyfront policies import policies.yaml --prune --dry-run'],
  run: importPolicies,
};

async function importPolicies(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const [isDryRun, isPruning] = [options['dry-run'] === true, options['prune'] === true];
  const actor = localActor(io, 'policies import', options);
  const format = selectOutputFormat(io, options);
  return withServices(io, { access: isDryRun ? 'read' : 'write' }, async ({ policies, now }) => {
    const read = await readPolicies(io, format, file);
    if (!read) return 1;
    const planned = differencesOf(await policies.current(), read, isPruning);
    const changes = planned.map(({ policyID, after }): PolicyChange => ({ policyID, policy: after }));
    if (!isDryRun) await policies.change(changes, actor, now());
    printDifferences(io, format, planned);
    const count = (kind: Difference['kind']) => planned.filter((one) => one.kind === kind).length;
    const counts = { added: count('ADDED'), changed: count('CHANGED'), removed: count('REMOVED') };
    printJSONResult(io, options, {
      dry_run: isDryRun,
      ...counts,
      unchanged: read.length - counts.added - counts.changed,
    });
    const prefix = isDryRun ? 'Dry run, nothing was stored: ' : '';
    io.stderr(`${prefix}${counts.added} added, ${counts.changed} changed, ${counts.removed} removed.\n`);
    return 0;
  });
}

export const diffPoliciesCommand: CLICommand = {
  name: 'policies diff',
  summary: 'Show how the policies of a file differ from those that are stored',
  description: `Changes nothing. ${fileFormat}`,
  arguments: ['FILE'],
  options: {
    prune: { description: 'Also show the policies that are not in the file' },
    json: jsonOption,
  },
  exitCodes: { 0: 'no differences', 1: 'differences', 2: 'invalid usage or policies, or no installation' },
  examples: ['keyfront policies diff policies.jsonl'],
  run: diffPolicies,
  errorExitCode: 2,
};

async function diffPolicies(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const format = selectOutputFormat(io, options);
  return withServices(io, { access: 'read' }, async ({ policies }) => {
    const read = await readPolicies(io, format, file);
    if (!read) return 2;
    const differences = differencesOf(await policies.current(), read, options['prune'] === true);
    printDifferences(io, format, differences);
    if (differences.length === 0) io.stderr('No differences.\n');
    return differences.length === 0 ? 0 : 1;
  });
}

export const listPoliciesCommand: CLICommand = {
  name: 'policies list',
  summary: 'List the policies',
  description: 'With --json, prints each policy as one line, in the format that `policies import` reads.',
  options: { json: jsonOption },
  examples: ['keyfront policies list', 'keyfront policies list --json > policies.jsonl'],
  run: listPolicies,
};

const headings = ['ID', 'VERSION', 'ORGANIZATION', 'GOVERNS', 'APIS', 'CHANGED', 'BY', 'NAME'];

async function listPolicies(io: IO, options: OptionValues): Promise<number> {
  const format = selectOutputFormat(io, options);
  return withServices(io, { access: 'read' }, async ({ policies }) => {
    const known = (await policies.versions()).filter(isKnown);
    if (known.length === 0) io.stderr('There are no policies.\n');
    else if (format.isJSON) for (const { policy } of known) io.stdout(`${toJSONLine(policyToWire(policy))}\n`);
    else io.stdout(formatTable([headings, ...known.map(toRow)]));
    return 0;
  });
}

export const removePolicyCommand: CLICommand = {
  name: 'policies remove',
  summary: 'Remove a policy',
  description:
    'Its history stays. Keys that name it are denied as UNKNOWN_POLICY, until the policy is imported again or the keys are changed.',
  arguments: ['ID'],
  options: { yes: yesOption, actor: actorOption, json: jsonOption },
  exitCodes: { 1: 'there is no such policy, or you did not confirm' },
  examples: ['keyfront policies remove gold --yes'],
  run: removePolicy,
};

async function removePolicy(io: IO, options: OptionValues, [policyID = '']: readonly string[]): Promise<number> {
  const actor = localActor(io, 'policies remove', options);
  return withServices(io, { access: 'write' }, async ({ policies, store, now }) => {
    if (!(await policies.current()).has(policyID)) {
      io.stderr(`There is no policy ${printable(policyID)}.\n`);
      return 1;
    }
    const keys = await store.count({ policy: policyID }, now());
    const question = () => `Remove the policy ${printable(policyID)}, which ${countOf(keys, 'keys name')}?`;
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    await policies.change([{ policyID, policy: undefined }], actor, now());
    printJSONResult(io, options, { policy_id: policyID, removed: true, keys });
    io.stderr(`Removed ${printable(policyID)}. Keys that name it: ${keys}.\n`);
    return 0;
  });
}

type KnownVersion = PolicyVersion & { readonly policy: Policy };

function isKnown(version: PolicyVersion): version is KnownVersion {
  return version.policy !== undefined;
}

function toRow({ policyID, version, at, actor, policy }: KnownVersion): string[] {
  return [
    printable(policyID),
    String(version),
    printable(policy.orgID ?? '(all)'),
    policy.governs.map((part) => part.toLowerCase()).join(','),
    String(policy.accessRights?.length ?? 0),
    at.toISOString(),
    printable(actor.assertedName ?? actor.label),
    printable(policy.name ?? ''),
  ];
}

/** Reads and validates all policies of a file. Prints their problems; undefined if there are any. */
async function readPolicies(io: IO, format: OutputFormat, file: string): Promise<readonly Policy[] | undefined> {
  const policies = new Map<string, Policy>();
  let isValid = true;
  const report = (location: string, error: AppError) => {
    isValid = false;
    io.stderr(`${printable(location)}: ${printable(error.message)}\n`);
    io.stderr(formatProblems(format, 'error', error.issues.length === 0 ? [] : problemsOf(error)));
  };
  for await (const { location, body } of readDefinitions(io, file)) {
    try {
      if (body instanceof AppError) throw body;
      const policy = await withWireIssuePaths(body, () => Promise.resolve(parsePolicy(policyFromWire(body))));
      if (policies.has(policy.policyID)) throw new AppError('INVALID', 'An earlier policy has the same policy_id.');
      policies.set(policy.policyID, policy);
      const warnings = issuesToWire(policyWarnings(policy), body);
      if (warnings.length > 0) {
        io.stderr(`${printable(location)}:\n`);
        io.stderr(formatProblems(format, 'warning', problemsOf(new AppError('INVALID', '', { issues: warnings }))));
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      report(location, error);
    }
  }
  return isValid ? [...policies.values()] : undefined;
}

/** How one policy of a file differs from the stored one. */
interface Difference {
  readonly policyID: string;
  readonly kind: 'ADDED' | 'CHANGED' | 'REMOVED';
  readonly after: Policy | undefined;
  readonly changes: readonly FieldChange[];
}

/** A policy as a file states it, without its identifier and its version. */
function comparable({
  policyID: _id,
  version: _version,
  changedAt: _at,
  governs,
  ...values
}: Policy & Partial<KnownPolicy>) {
  return { governs: governs.map((part) => part.toLowerCase()), ...values };
}

function differencesOf(
  known: ReadonlyMap<string, KnownPolicy>,
  read: readonly Policy[],
  isPruning: boolean,
): Difference[] {
  const differences: Difference[] = [];
  for (const after of read) {
    const { policyID } = after;
    const before = known.get(policyID);
    const changes = definitionChanges(before ? comparable(before) : {}, comparable(after));
    if (changes.length > 0 || !before)
      differences.push({ policyID, kind: before ? 'CHANGED' : 'ADDED', after, changes });
  }
  const named = new Set(read.map(({ policyID }) => policyID));
  const others = isPruning ? [...known.keys()].filter((policyID) => !named.has(policyID)) : [];
  return [
    ...differences,
    ...others.map((policyID): Difference => ({ policyID, kind: 'REMOVED', after: undefined, changes: [] })),
  ];
}

function printDifferences(io: IO, format: OutputFormat, differences: readonly Difference[]): void {
  for (const { policyID, kind, changes } of differences) {
    if (format.isJSON) {
      io.stdout(`${toJSONLine({ policy_id: policyID, kind, changes: changes.map(changeToJSON) })}\n`);
    } else {
      io.stdout(`${printable(policyID)}: ${kind.toLowerCase()}\n${formatChanges(format, changes)}`);
    }
  }
}
