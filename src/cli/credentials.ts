import {
  credentialKinds,
  stateOfCredential,
  type CredentialKind,
  type StoredCredential,
} from '../credentials/credential.js';
import { issueCredential, rotateCredential } from '../credentials/issue.js';
import { scopes, type Scope } from '../keys/key.js';
import { isRole, roles } from '../keys/role.js';
import { nearest } from '../lib/nearest.js';
import { printable } from '../lib/text.js';
import { withServices } from './client/open.js';
import { type CLICommand, type OptionValues } from './command.js';
import { parseDuration, parseOrgIDOption, parseOverlap, confirm, notConfirmedExitCode, yesOption } from './input.js';
import { UsageError, type IO } from './io.js';
import { toJSONLine, formatTable, jsonOption, printJSONResult, printSecret } from './output.js';

export const issueCommand: CLICommand = {
  name: 'credentials issue',
  summary: 'Issue a credential and print its secret once',
  description: 'Standard output contains only the secret, so that a script can read it.',
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
  return withServices(io, { access: 'create' }, async ({ credentials, now }) => {
    const expiryDate = lifetimeMs === undefined ? undefined : new Date(now().getTime() + lifetimeMs);
    const credentialOptions = { kind: knownKind, label, orgID, expires: expiryDate, scopes: allowed };
    const { credential, secret } = await issueCredential(credentials, credentialOptions, now());
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
  const suggestion = nearest(String(role), Object.keys(roles));
  throw new UsageError(
    `--role must be one of ${Object.keys(roles).join(', ')}${suggestion === undefined ? '.' : `; did you mean ${suggestion}?`}`,
  );
}

function parseScopeList(list: OptionValues[string]): readonly Scope[] {
  const known = Object.keys(scopes) as Scope[];
  const named = String(list).split(',');
  for (const name of named) {
    if (known.some((scope) => scope === name)) continue;
    const suggestion = nearest(name, known);
    throw new UsageError(
      `--scopes must be a list of ${known.join(', ')}${suggestion === undefined ? '.' : `; did you mean ${suggestion}?`}`,
    );
  }
  return known.filter((scope) => named.includes(scope));
}

export const listCredentialsCommand: CLICommand = {
  name: 'credentials list',
  summary: 'List credentials with their state and last use, without their secrets',
  options: { json: { description: 'Print one line of JSON per credential', isCommon: true } },
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

async function list(io: IO, { json: isJSON }: OptionValues): Promise<number> {
  return withServices(io, { access: 'read' }, async ({ credentials, now }) => {
    const found = await credentials.list();
    if (isJSON === true) {
      for (const credential of found) io.stdout(`${toJSONLine(toJSONObject(credential, now()))}\n`);
      return 0;
    }
    const rows = found.map((credential) => [
      credential.id,
      credential.kind,
      stateOfCredential(credential, now()),
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

function toJSONObject(credential: StoredCredential, now: Date): object {
  const { id, kind, label, orgID, scopes, lastFour, created, expires, lastUsed, successorID } = credential;
  return {
    id,
    kind,
    state: stateOfCredential(credential, now),
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
  description: 'The old credential stays valid for the overlap period.',
  arguments: ['ID'],
  options: {
    overlap: {
      value: '24h',
      description: 'How long the old credential stays valid; 0 revokes it immediately (default 24h)',
    },
    json: jsonOption,
  },
  examples: ['keyfront credentials rotate cred_2e1c90b7d64f8a13 --overlap 7d'],
  run: rotate,
};

async function rotate(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const overlapMs = parseOverlap(options);
  return withServices(io, { access: 'write' }, async ({ credentials, now }) => {
    const { credential, secret, retired } = await rotateCredential(credentials, id, overlapMs, now());
    const state = retired.revoked ? 'is revoked' : `stays valid until ${retired.expires?.toISOString()}`;
    io.stderr(`Issued ${credential.id}; ${id} ${state}. Save this secret now; it is not shown again:\n`);
    printSecret(io, options, { id: credential.id, secret });
    return 0;
  });
}

export const revokeCommand: CLICommand = {
  name: 'credentials revoke',
  summary: 'Revoke a credential',
  description: 'Running services reject it from the next request on.',
  arguments: ['ID'],
  options: { yes: yesOption, json: jsonOption },
  exitCodes: { 1: 'there is no such credential' },
  examples: ['keyfront credentials revoke cred_2e1c90b7d64f8a13'],
  run: revoke,
};

async function revoke(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ credentials, now }) => {
    const credential = (await credentials.list()).find((one) => one.id === id);
    if (credential && !(await confirm(io, options, () => questionOf(credential)))) return notConfirmedExitCode;
    const isRevoked = await credentials.revoke(id, now());
    printJSONResult(io, options, { id, revoked: isRevoked });
    io.stderr(
      isRevoked ? `Revoked ${id}. Running services reject it from now on.\n` : `There is no credential ${id}.\n`,
    );
    return isRevoked ? 0 : 1;
  });
}

function questionOf({ id, label, kind, orgID, lastUsed }: StoredCredential): string {
  const org = orgID === undefined ? 'all organizations' : orgID;
  const used = lastUsed === undefined ? 'never used' : `last used at ${lastUsed.toISOString()}`;
  const name = printable(`${id} (${label}) of ${org}`);
  return `Revoke the ${kind} credential ${name}, ${used}? Running services reject it from the next request on.`;
}
