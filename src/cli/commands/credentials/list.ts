import type { StoredCredential } from '../../../credentials/credential.js';
import { printable } from '../../../lib/text.js';
import type { CLICommand } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { formatTable } from '../../output/table.js';

export const listCredentialsCommand: CLICommand = {
  name: 'credentials list',
  summary: 'List credentials with their state and last use, without their secrets',
  examples: ['keyfront credentials list'],
  environment: storageVariables,
  run: list,
};

const headings = ['ID', 'KIND', 'STATE', 'LAST 4', 'ORGANISATION', 'CREATED', 'EXPIRES', 'LAST USED', 'LABEL'];

async function list(io: IO): Promise<number> {
  return withServices(io, { access: 'read' }, async ({ credentials, now }) => {
    const rows = (await credentials.list()).map((credential) => [
      credential.id,
      credential.kind,
      stateOf(credential, now()),
      `…${credential.lastFour ?? '????'}`,
      printable(credential.orgID ?? '(all)'),
      credential.created.toISOString(),
      credential.expires?.toISOString() ?? 'never',
      credential.lastUsed?.toISOString() ?? 'never',
      printable(credential.label),
    ]);
    io.stdout(formatTable([headings, ...rows]));
    return 0;
  });
}

/** A replaced credential stays valid until it expires. */
function stateOf({ revoked, expires, successorID }: StoredCredential, now: Date): string {
  if (revoked) return 'revoked';
  if (expires && expires <= now) return 'expired';
  return successorID === undefined ? 'active' : 'replaced';
}
