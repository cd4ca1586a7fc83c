import { parsePolicy } from '../keys/access/policy-definition.js';
import type { PolicyHistoryEntry } from '../keys/access/policy-diff.js';
import type { KnownPolicy } from '../keys/access/policy-store.js';
import type { Policy } from '../keys/access/policy.js';
import { policyWarnings } from '../keys/access/policy-warnings.js';
import { AppError } from '../lib/errors.js';
import { printable } from '../lib/text.js';
import { withWireIssuePaths } from '../rest/json-body.js';
import { issuesToWire, policyFromWire, policyToWire } from '../wire/field-names.js';
import { actorToJSON, changeToJSON, formatActor, formatChanges } from './changes.js';
import type { PolicyChangeOutcome } from './client/policy-operations.js';
import { expectedVersionOption, keyLocation, keysOptions, parseNumberOption, runKeysCommand } from './client/run.js';
import type { CLICommand, OptionValues } from './command.js';
import { readDefinitions } from './definitions.js';
import { actorOption, confirm, notConfirmedExitCode, yesOption } from './input.js';
import type { IO } from './io.js';
import {
  countOf,
  formatProblems,
  formatTable,
  printJSONResult,
  problemsOf,
  toJSONLine,
  type OutputFormat,
} from './output.js';

const fileFormat =
  'FILE contains policies with the field names of REST, as JSON, JSON Lines or YAML; `-` reads standard input. `policies list --json` prints the same format.';

/** The option `--expected-version` of a change of policies. */
const expectedVersion = {
  ...expectedVersionOption,
  description: 'Reject the change unless all policies together have this version, as `policies list` prints it',
};

const cannotAccess =
  'invalid usage, or the policies cannot be accessed: no file, installation, service or valid credential';

export const importPoliciesCommand: CLICommand = {
  name: 'policies import',
  summary: 'Add the policies of a file, and replace those with the same identifiers',
  description: `All policies are imported, or none. Policies that are not in the file stay, except with --prune. Running services use them within a second. ${fileFormat} ${keyLocation} One request to a service has at most 128 KiB of policies.`,
  arguments: ['FILE'],
  options: {
    prune: { description: 'Also remove the policies that are not in the file' },
    'dry-run': { description: 'Show the changes, and store nothing' },
    'expected-version': expectedVersion,
    actor: actorOption,
    ...keysOptions,
  },
  exitCodes: { 1: 'rejected, for example because some policies are not valid; nothing is imported', 2: cannotAccess },
  examples: ['keyfront policies import policies.jsonl', 'keyfront policies import policies.yaml --prune --dry-run'],
  run: importPolicies,
  errorExitCode: 2,
};

async function importPolicies(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const [isDryRun, prune] = [options['dry-run'] === true, options['prune'] === true];
  const version = parseNumberOption(options, 'expected-version');
  const access = isDryRun ? 'read' : 'write';
  return runKeysCommand({ io, command: 'policies import', options, access }, async ({ policies, format }) => {
    const read = await readPolicies(io, format, file);
    if (!read) return 1;
    const change = await policies.put(read, { isDryRun, prune, expectedVersion: version });
    printDifferences(io, format, change);
    const count = (kind: string) => change.differences.filter((one) => one.kind === kind).length;
    const counts = { added: count('ADDED'), changed: count('CHANGED'), removed: count('REMOVED') };
    printJSONResult(io, options, {
      dry_run: isDryRun,
      version: change.version,
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
  description: `Changes nothing. ${fileFormat} ${keyLocation}`,
  arguments: ['FILE'],
  options: {
    prune: { description: 'Also show the policies that are not in the file' },
    ...keysOptions,
  },
  exitCodes: {
    0: 'no differences',
    1: 'differences',
    2: 'invalid usage or policies, or no installation, service or valid credential',
  },
  examples: ['keyfront policies diff policies.jsonl'],
  run: diffPolicies,
  errorExitCode: 2,
};

async function diffPolicies(io: IO, options: OptionValues, [file = '']: readonly string[]): Promise<number> {
  const call = { io, command: 'policies diff', options, access: 'read', rejectedExitCode: 2 } as const;
  return runKeysCommand(call, async ({ policies, format }) => {
    const read = await readPolicies(io, format, file);
    if (!read) return 2;
    const change = await policies.put(read, { isDryRun: true, prune: options['prune'] === true });
    printDifferences(io, format, change);
    if (change.differences.length === 0) io.stderr('No differences.\n');
    return change.differences.length === 0 ? 0 : 1;
  });
}

export const listPoliciesCommand: CLICommand = {
  name: 'policies list',
  summary: 'List the policies',
  description: `With --json, prints each policy as one line, in the format that \`policies import\` reads. ${keyLocation}`,
  options: keysOptions,
  exitCodes: { 1: 'rejected; the reasons are printed', 2: cannotAccess },
  examples: ['keyfront policies list', 'keyfront policies list --json > policies.jsonl'],
  run: listPolicies,
  errorExitCode: 2,
};

const defaultEntries = 20;
const maxEntries = 100;

const headings = ['ID', 'VERSION', 'ORGANIZATION', 'GOVERNS', 'APIS', 'CHANGED', 'BY', 'NAME'];

async function listPolicies(io: IO, options: OptionValues): Promise<number> {
  return runKeysCommand({ io, command: 'policies list', options, access: 'read' }, async ({ policies, format }) => {
    const { version, policies: known } = await policies.list();
    if (format.isJSON) for (const policy of known) io.stdout(`${toJSONLine(policyToWire(policy))}\n`);
    else if (known.length > 0) io.stdout(formatTable([headings, ...known.map(toRow)]));
    io.stderr(known.length === 0 ? 'There are no policies.\n' : `Version of all policies: ${version}.\n`);
    return 0;
  });
}

export const policyHistoryCommand: CLICommand = {
  name: 'policies history',
  summary: 'List the changes of a policy, newest first',
  description: `Also of a removed policy. ${keyLocation}`,
  arguments: ['ID'],
  options: {
    limit: { value: 'N', description: `Maximum number of entries, up to ${maxEntries} (default ${defaultEntries})` },
    ...keysOptions,
  },
  exitCodes: { 1: 'there was no such policy', 2: cannotAccess },
  examples: ['keyfront policies history gold --limit 5'],
  run: policyHistory,
  errorExitCode: 2,
};

async function policyHistory(io: IO, options: OptionValues, [policyID = '']: readonly string[]): Promise<number> {
  const limit = parseNumberOption(options, 'limit', maxEntries) ?? defaultEntries;
  const call = { io, command: 'policies history', options, access: 'read' } as const;
  return runKeysCommand(call, async ({ policies, format }) => {
    const entries = await policies.history(policyID, limit);
    if (!entries) return noPolicy(io, policyID);
    for (const entry of entries) io.stdout(formatEntry(format, entry));
    return 0;
  });
}

function formatEntry(format: OutputFormat, { version, at, kind, actor, changes }: PolicyHistoryEntry): string {
  const { paint, isJSON } = format;
  const time = at.toISOString();
  if (isJSON) {
    const shown = { version, at: time, kind, actor: actorToJSON(actor), changes: changes.map(changeToJSON) };
    return `${toJSONLine(shown)}\n`;
  }
  const heading = `${paint.bold(`version ${version}`)}  ${time}  ${kind.toLowerCase()}`;
  return `${heading}  ${paint.dim(`by ${formatActor(actor)}`)}\n${formatChanges(format, changes)}`;
}

function noPolicy(io: IO, policyID: string): number {
  io.stderr(`There is no policy ${printable(policyID)}.\n`);
  return 1;
}

export const removePolicyCommand: CLICommand = {
  name: 'policies remove',
  summary: 'Remove a policy',
  description: `Its history stays. Keys that name it are denied as UNKNOWN_POLICY, until the policy is imported again or the keys are changed. ${keyLocation}`,
  arguments: ['ID'],
  options: { yes: yesOption, 'expected-version': expectedVersion, actor: actorOption, ...keysOptions },
  exitCodes: { 1: 'there is no such policy, the change was rejected, or you did not confirm', 2: cannotAccess },
  examples: ['keyfront policies remove gold --yes'],
  run: removePolicy,
  errorExitCode: 2,
};

async function removePolicy(io: IO, options: OptionValues, [policyID = '']: readonly string[]): Promise<number> {
  const version = parseNumberOption(options, 'expected-version');
  return runKeysCommand({ io, command: 'policies remove', options }, async ({ policies }) => {
    const { version: found, policies: known } = await policies.list();
    if (!known.some((policy) => policy.policyID === policyID)) return noPolicy(io, policyID);
    const keys = await policies.countKeys(policyID);
    const question = () => `Remove the policy ${printable(policyID)}, which ${countOf(keys, 'keys name')}?`;
    if (!(await confirm(io, options, question))) return notConfirmedExitCode;
    // If somebody changes policies after the question, the answer was about other ones.
    await policies.remove([policyID], { isDryRun: false, expectedVersion: version ?? found });
    printJSONResult(io, options, { policy_id: policyID, removed: true, keys });
    io.stderr(`Removed ${printable(policyID)}. Keys that name it: ${keys}.\n`);
    return 0;
  });
}

function toRow({ policyID, version, changedAt, changedBy, orgID, governs, accessRights, name }: KnownPolicy): string[] {
  return [
    printable(policyID),
    String(version),
    printable(orgID ?? '(all)'),
    governs.map((part) => part.toLowerCase()).join(','),
    String(accessRights?.length ?? 0),
    changedAt.toISOString(),
    printable(changedBy.assertedName ?? changedBy.label),
    printable(name ?? ''),
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
    if (body instanceof AppError) {
      // The message of a text that cannot be parsed begins with its location.
      isValid = false;
      io.stderr(`${printable(body.message)}\n`);
      continue;
    }
    try {
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

/** Prints the policies that change. */
function printDifferences(io: IO, format: OutputFormat, { differences }: PolicyChangeOutcome): void {
  for (const { policyID, kind, changes } of differences) {
    if (format.isJSON) {
      io.stdout(`${toJSONLine({ policy_id: policyID, kind, changes: changes.map(changeToJSON) })}\n`);
    } else {
      io.stdout(`${printable(policyID)}: ${kind.toLowerCase()}\n${formatChanges(format, changes)}`);
    }
  }
}
