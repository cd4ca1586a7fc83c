import { issueCredential } from '../auth/issue.js';
import { credentialKinds, type Credential } from '../credential.js';
import { UsageError, type IO } from './io.js';
import { withInstallation } from './open.js';
import { organisationOf } from './organisation.js';
import type { Values } from './run.js';

const millisecondsPer: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Prints the secret alone on standard output, so that a script can take it; the rest is for people. */
export async function issue(io: IO, { kind, label, org, expires }: Values): Promise<number> {
  const known = credentialKinds.find((candidate) => candidate === kind);
  if (known === undefined) throw new UsageError('--kind must be management or service.');
  if (typeof label !== 'string' || label.trim() === '')
    throw new UsageError('--label must say who uses the credential.');
  const orgID = organisationOf(org);
  const milliseconds = durationOf(expires);
  return withInstallation(io, async ({ credentials, now }) => {
    const end = milliseconds === undefined ? undefined : new Date(now().getTime() + milliseconds);
    const order = { kind: known, label, orgID, expires: end };
    const { credential, secret } = await issueCredential(credentials, order, now());
    io.say(`Issued ${credential.id}. Its secret is shown once:\n`);
    io.out(`${secret}\n`);
    return 0;
  });
}

export async function list(io: IO): Promise<number> {
  return withInstallation(io, async ({ credentials, now }) => {
    const rows = (await credentials.list()).map((credential) => [
      credential.id,
      credential.kind,
      stateOf(credential, now()),
      printable(credential.orgID ?? '(all)'),
      credential.created.toISOString(),
      credential.expires?.toISOString() ?? 'never',
      printable(credential.label),
    ]);
    const table = [['ID', 'KIND', 'STATE', 'ORGANISATION', 'CREATED', 'EXPIRES', 'LABEL'], ...rows];
    const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
    for (const row of table)
      io.out(
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
      );
    return 0;
  });
}

export async function revoke(io: IO, _values: Values, [id = '']: readonly string[]): Promise<number> {
  return withInstallation(io, async ({ credentials, now }) => {
    const revoked = await credentials.revoke(id, now());
    io.say(revoked ? `Revoked ${id}. Running services refuse it from now on.\n` : `There is no credential ${id}.\n`);
    return revoked ? 0 : 1;
  });
}

function stateOf({ revoked, expires }: Credential, now: Date): string {
  if (revoked) return 'revoked';
  return expires && expires <= now ? 'expired' : 'active';
}

/** Free text for a terminal, which obeys control characters. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}

function durationOf(value: string | boolean | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(String(value)) ?? [];
  const milliseconds = millisecondsPer[unit];
  if (milliseconds === undefined) {
    throw new UsageError('--expires must be a number of hours, days or weeks, such as 90d.');
  }
  return Number(count) * milliseconds;
}
