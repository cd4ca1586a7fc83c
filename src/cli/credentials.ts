import { credentialKinds, type CredentialKind } from '../credentials/credential.js';
import { scopes, type Scope } from '../keys/key.js';
import { isRole, roles } from '../keys/role.js';
import { printable } from '../lib/text.js';
import { connectionOptions } from './client/connection.js';
import { runCredentialsCommand, type ShownCredential } from './client/credential-operations.js';
import { keyLocation, serviceURLOption } from './client/run.js';
import { type CLICommand, type OptionValues } from './command.js';
import {
  parseDuration,
  parseOrgIDOption,
  parseSecretOverlap,
  confirm,
  endWithSuggestion,
  isInteractive,
  notConfirmedExitCode,
  yesOption,
} from './input.js';
import { UsageError, type IO } from './io.js';
import { toJSONLine, formatTable, jsonOption, printJSONResult, printSecret } from './output.js';

/** Options of a command that works on the data folder or at a service. */
const placeOptions = { url: serviceURLOption, ...connectionOptions } as const;

export const issueCommand: CLICommand = {
  name: 'credentials issue',
  summary: 'Issue a credential and print its secret once',
  description: `Standard output contains only the secret, so that a script can read it. A service issues no more rights than its credential has. ${keyLocation}`,
  options: {
    kind: {
      value: 'management|service',
      description: 'Allow previews (management) or access to keys (service)',
      isRequired: true,
    },
    label: { value: 'TEXT', description: 'Name shown in lists and in the audit log', isRequired: true },
    org: { value: 'ID', description: 'Restrict the credential to one organization (default: all organizations)' },
    role: {
      value: 'ROLE',
      description: `Restrict a service credential to the scopes of a role: ${Object.keys(roles).join(', ')}`,
    },
    'read-only': { description: 'Allow a service credential to read only; the same as --scopes read' },
    scopes: {
      value: 'LIST',
      description: `Restrict a service credential to these operations, separated by commas: ${Object.keys(scopes).join(', ')} (default: all)`,
    },
    expires: { value: '90d', description: 'Lifetime, such as 12h, 90d or 4w (default: unlimited)' },
    ...placeOptions,
    json: jsonOption,
  },
  examples: [
    'keyfront credentials issue --kind service --label "billing dashboard" --org acme --expires 90d',
    'keyfront credentials issue --kind service --label gateway --scopes read,consume',
  ],
  run: issue,
};

async function issue(io: IO, options: OptionValues): Promise<number> {
  const { kind, label, org, expires } = options;
  const knownKind = credentialKinds.find((candidate) => candidate === kind);
  if (knownKind === undefined) throw new UsageError('--kind must be management or service.');
  if (typeof label !== 'string' || label.trim() === '') throw new UsageError('--label must not be empty.');
  const orgID = parseOrgIDOption(org);
  const allowed = parseScopes(options, knownKind);
  const lifetimeMs = parseDuration('--expires', expires);
  return runCredentialsCommand({ io, options, access: 'create' }, async (credentials) => {
    const wanted = { kind: knownKind, label, orgID, scopes: allowed, lifetimeMs };
    const { credential, secret } = await credentials.issue(wanted);
    io.stderr(`Issued ${credential.id}. Save this secret now; it is not shown again:\n`);
    printSecret(io, options, { id: credential.id, secret });
    return 0;
  });
}

/** The scopes that `--role`, `--read-only` or `--scopes` name; undefined if none of them is given. */
function parseScopes(options: OptionValues, kind: CredentialKind): readonly Scope[] | undefined {
  const { role, 'read-only': isReadOnly, scopes: list } = options;
  const given = [role, isReadOnly === true ? true : undefined, list].filter((one) => one !== undefined);
  if (given.length === 0) return undefined;
  if (given.length > 1) throw new UsageError('Use only one of --role, --read-only and --scopes.');
  if (kind !== 'service') throw new UsageError('--role, --read-only and --scopes are for service credentials only.');
  if (isReadOnly === true) return ['read'];
  return role === undefined ? parseScopeList(list) : parseRole(role);
}

function parseRole(role: OptionValues[string]): readonly Scope[] {
  if (typeof role === 'string' && isRole(role)) return roles[role];
  const known = Object.keys(roles);
  throw new UsageError(`--role must be one of ${known.join(', ')}${endWithSuggestion(String(role), known)}`);
}

function parseScopeList(list: OptionValues[string]): readonly Scope[] {
  const known = Object.keys(scopes) as Scope[];
  const named = String(list).split(',');
  for (const name of named) {
    if (known.some((scope) => scope === name)) continue;
    throw new UsageError(`--scopes must be a list of ${known.join(', ')}${endWithSuggestion(name, known)}`);
  }
  return known.filter((scope) => named.includes(scope));
}

export const listCredentialsCommand: CLICommand = {
  name: 'credentials list',
  summary: 'List credentials with their state and last use, without their secrets',
  description: keyLocation,
  options: { ...placeOptions, json: { description: 'Print one line of JSON per credential', isCommon: true } },
  examples: ['keyfront credentials list', 'keyfront credentials list --json | jq -r "select(.expires == null).id"'],
  run: list,
};

const headings = [
  'ID',
  'KIND',
  'STATE',
  'LAST 4',
  'ORGANIZATION',
  'SCOPES',
  'CREATED',
  'EXPIRES',
  'LAST USED',
  'LABEL',
];

async function list(io: IO, options: OptionValues): Promise<number> {
  return runCredentialsCommand({ io, options, access: 'read' }, async (credentials) => {
    const found = await credentials.list();
    if (options['json'] === true) {
      for (const credential of found) io.stdout(`${toJSONLine(toJSONObject(credential))}\n`);
      return 0;
    }
    const rows = found.map((credential) => [
      credential.id,
      credential.kind,
      credential.state,
      `…${credential.lastFour ?? '????'}`,
      printable(credential.orgID ?? '(all)'),
      credential.scopes?.join(',') ?? '(all)',
      credential.created.toISOString(),
      credential.expires?.toISOString() ?? 'never',
      credential.lastUsed?.toISOString() ?? 'never',
      printable(credential.label),
    ]);
    io.stdout(formatTable([headings, ...rows]));
    return 0;
  });
}

function toJSONObject(credential: ShownCredential): object {
  const { id, kind, state, label, orgID, scopes, lastFour, created, expires, lastUsed, successorID } = credential;
  return {
    id,
    kind,
    state,
    label,
    org_id: orgID ?? null,
    scopes: scopes ?? null,
    last_four: lastFour ?? null,
    created: created.toISOString(),
    expires: expires?.toISOString() ?? null,
    last_used: lastUsed?.toISOString() ?? null,
    successor: successorID ?? null,
  };
}

export const rotateCredentialCommand: CLICommand = {
  name: 'credentials rotate',
  summary: 'Issue a replacement credential and print its secret once',
  description: `The old credential stays valid for the overlap period. ${keyLocation}`,
  arguments: ['ID'],
  options: {
    overlap: {
      value: '24h',
      description: 'How long the old credential stays valid, at most 365d; 0 revokes it immediately (default 24h)',
    },
    ...placeOptions,
    json: jsonOption,
  },
  examples: ['keyfront credentials rotate cred_2e1c90b7d64f8a13 --overlap 7d'],
  run: rotate,
};

async function rotate(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const overlapMs = parseSecretOverlap(options);
  return runCredentialsCommand({ io, options, access: 'write' }, async (credentials) => {
    const { credential, secret, retired } = await credentials.rotate(id, overlapMs);
    const state = retired.revoked ? 'is revoked' : `stays valid until ${retired.expires?.toISOString()}`;
    io.stderr(`Issued ${credential.id}; ${id} ${state}. Save this secret now; it is not shown again:\n`);
    printSecret(io, options, { id: credential.id, secret });
    return 0;
  });
}

export const revokeCommand: CLICommand = {
  name: 'credentials revoke',
  summary: 'Revoke a credential',
  description: `Running services reject it from the next request on. ${keyLocation}`,
  arguments: ['ID'],
  options: { yes: yesOption, ...placeOptions, json: jsonOption },
  exitCodes: { 1: 'there is no such credential' },
  examples: ['keyfront credentials revoke cred_2e1c90b7d64f8a13'],
  run: revoke,
};

async function revoke(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return runCredentialsCommand({ io, options, access: 'write' }, async (credentials) => {
    // A script does not confirm, and need not read them all.
    const listed = isInteractive(io) ? await credentials.list() : [];
    const credential = listed.find((one) => one.id === id);
    if (credential && !(await confirm(io, options, () => questionOf(credential)))) return notConfirmedExitCode;
    const isRevoked = await credentials.revoke(id);
    printJSONResult(io, options, { id, revoked: isRevoked });
    io.stderr(
      isRevoked ? `Revoked ${id}. Running services reject it from now on.\n` : `There is no credential ${id}.\n`,
    );
    return isRevoked ? 0 : 1;
  });
}

function questionOf({ id, label, kind, orgID, lastUsed }: ShownCredential): string {
  const org = orgID === undefined ? 'all organizations' : orgID;
  const used = lastUsed === undefined ? 'never used' : `last used at ${lastUsed.toISOString()}`;
  const name = printable(`${id} (${label}) of ${org}`);
  return `Revoke the ${kind} credential ${name}, ${used}? Running services reject it from the next request on.`;
}
