import { credentialKinds, type CredentialKind } from '../../../credentials/credential.js';
import { issueCredential } from '../../../credentials/issue.js';
import { scopes, type Scope } from '../../../keys/key.js';
import { nearest } from '../../../lib/nearest.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { parseDuration } from '../../input/duration.js';
import { parseOrgIDOption } from '../../input/organisation.js';
import { UsageError, type IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { toJSONLine } from '../../output/json.js';

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
    org: { value: 'ID', description: 'Restrict the credential to one organisation (default: all organisations)' },
    'read-only': { description: 'Allow a service credential to read only; the same as --scopes read' },
    scopes: {
      value: 'LIST',
      description: `Restrict a service credential to these operations, separated by commas: ${Object.keys(scopes).join(', ')} (default: all)`,
    },
    expires: { value: '90d', description: 'Lifetime, such as 12h, 90d or 4w (default: unlimited)' },
    json: { description: 'Print the id and the secret as JSON', isCommon: true },
  },
  examples: [
    'keyfront credentials issue --kind service --label "billing dashboard" --org acme --expires 90d',
    'keyfront credentials issue --kind service --label gateway --scopes read,consume',
  ],
  environment: storageVariables,
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
    io.stdout(`${options['json'] === true ? toJSONLine({ id: credential.id, secret }) : secret}\n`);
    return 0;
  });
}

/** The scopes that `--read-only` or `--scopes` name; undefined if neither is given. */
function parseScopes(options: OptionValues, kind: CredentialKind): readonly Scope[] | undefined {
  const { 'read-only': isReadOnly, scopes: list } = options;
  if (isReadOnly !== true && list === undefined) return undefined;
  if (isReadOnly === true && list !== undefined) throw new UsageError('Use either --read-only or --scopes.');
  if (kind !== 'service') throw new UsageError('--read-only and --scopes are for service credentials only.');
  if (isReadOnly === true) return ['read'];
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
