import { credentialKinds } from '../../../credentials/credential.js';
import { issueCredential } from '../../../credentials/issue.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import { parseDuration } from '../../input/duration.js';
import { parseOrganisation } from '../../input/organisation.js';
import { UsageError, type IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';

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
    expires: { value: '90d', description: 'Lifetime, such as 12h, 90d or 4w (default: unlimited)' },
  },
  examples: ['keyfront credentials issue --kind service --label "billing dashboard" --org acme --expires 90d'],
  environment: storageVariables,
  run: issue,
};

async function issue(io: IO, { kind, label, org, expires }: OptionValues): Promise<number> {
  const knownKind = credentialKinds.find((candidate) => candidate === kind);
  if (knownKind === undefined) throw new UsageError('--kind must be management or service.');
  if (typeof label !== 'string' || label.trim() === '') throw new UsageError('--label must not be empty.');
  const orgID = parseOrganisation(org);
  const lifetimeMs = parseDuration('--expires', expires);
  return withServices(io, { access: 'create' }, async ({ credentials, now }) => {
    const expiryDate = lifetimeMs === undefined ? undefined : new Date(now().getTime() + lifetimeMs);
    const order = { kind: knownKind, label, orgID, expires: expiryDate };
    const { credential, secret } = await issueCredential(credentials, order, now());
    io.stderr(`Issued ${credential.id}. Save this secret now; it is not shown again:\n`);
    io.stdout(`${secret}\n`);
    return 0;
  });
}
