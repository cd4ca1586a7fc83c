import { issueCredential } from '../auth/issue.js';
import { credentialKinds, type Credential } from '../credential.js';
import { UsageError, type IO } from './io.js';
import { withInstallation } from './open.js';
import type { Values } from './run.js';

const millisecondsPer: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Prints the secret alone on standard output, so that a script can take it; the rest is for people. */
export async function issue(io: IO, { kind, label, org, expires }: Values): Promise<number> {
  const known = credentialKinds.find((candidate) => candidate === kind);
  if (known === undefined) throw new UsageError('--kind must be management or service.');
  if (typeof label !== 'string' || label.trim() === '')
    throw new UsageError('--label must say who uses the credential.');
  return withInstallation(io, async ({ credentials, now }) => {
    const order = { kind: known, label, orgID: textOf(org), expires: momentOf(expires, now()) };
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
      credential.orgID ?? '(all)',
      credential.created.toISOString(),
      credential.expires?.toISOString() ?? 'never',
      // A label is free text, and a terminal obeys control characters.
      credential.label.replace(/\p{Cc}/gu, '\uFFFD'),
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

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function momentOf(value: string | boolean | undefined, now: Date): Date | undefined {
  if (value === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(String(value)) ?? [];
  const milliseconds = millisecondsPer[unit];
  if (milliseconds === undefined)
    throw new UsageError('--expires must be a number of hours, days or weeks, such as 90d.');
  return new Date(now.getTime() + Number(count) * milliseconds);
}
