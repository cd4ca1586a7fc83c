import { issueCredential, rotateCredential } from '../../credentials/issue.js';
import { credentialKinds, type Credential } from '../../credentials/credential.js';
import { printable } from '../../lib/text.js';
import { UsageError, type IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { parseOrganisation } from '../input/organisation.js';
import { formatTable } from '../output/table.js';
import type { OptionValues } from '../command.js';

const millisecondsPer: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const defaultOverlapMs = 86_400_000;

/** Prints the secret alone on standard output, so that a script can take it; the rest is for people. */
export async function issue(io: IO, { kind, label, org, expires }: OptionValues): Promise<number> {
  const known = credentialKinds.find((candidate) => candidate === kind);
  if (known === undefined) throw new UsageError('--kind must be management or service.');
  if (typeof label !== 'string' || label.trim() === '')
    throw new UsageError('--label must say who uses the credential.');
  const orgID = parseOrganisation(org);
  const milliseconds = durationOf('--expires', expires);
  return withServices(io, { access: 'create' }, async ({ credentials, now }) => {
    const end = milliseconds === undefined ? undefined : new Date(now().getTime() + milliseconds);
    const order = { kind: known, label, orgID, expires: end };
    const { credential, secret } = await issueCredential(credentials, order, now());
    io.stderr(`Issued ${credential.id}. Its secret is shown once:\n`);
    io.stdout(`${secret}\n`);
    return 0;
  });
}

/** Prints the successor's secret alone on standard output, as `issue` does. */
export async function rotate(io: IO, values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  const overlapMs = parseOverlap(values);
  return withServices(io, { access: 'write' }, async ({ credentials, now }) => {
    const { credential, secret, retired } = await rotateCredential(credentials, id, overlapMs, now());
    const end = retired.revoked ? 'opens nothing any more' : `goes on until ${retired.expires?.toISOString()}`;
    io.stderr(`Issued ${credential.id} in the place of ${id}, which ${end}. Its secret is shown once:\n`);
    io.stdout(`${secret}\n`);
    return 0;
  });
}

/** For how long an old secret goes on beside the new one; 0 for not at all. */
export function parseOverlap({ overlap }: OptionValues): number {
  return overlap === '0' ? 0 : (durationOf('--overlap', overlap, '0, or ') ?? defaultOverlapMs);
}

const headings = ['ID', 'KIND', 'STATE', 'LAST 4', 'ORGANISATION', 'CREATED', 'EXPIRES', 'LAST USED', 'LABEL'];

export async function list(io: IO): Promise<number> {
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

export async function revoke(io: IO, _values: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return withServices(io, { access: 'write' }, async ({ credentials, now }) => {
    const revoked = await credentials.revoke(id, now());
    io.stderr(revoked ? `Revoked ${id}. Running services refuse it from now on.\n` : `There is no credential ${id}.\n`);
    return revoked ? 0 : 1;
  });
}

/** One that was rotated opens what it did until it expires. */
function stateOf({ revoked, expires, successorID }: Credential, now: Date): string {
  if (revoked) return 'revoked';
  if (expires && expires <= now) return 'expired';
  return successorID === undefined ? 'active' : 'replaced';
}

function durationOf(option: string, value: string | boolean | undefined, or = ''): number | undefined {
  if (value === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(String(value)) ?? [];
  const milliseconds = millisecondsPer[unit];
  if (milliseconds === undefined) {
    throw new UsageError(`${option} must be ${or}a number of hours, days or weeks, such as 90d.`);
  }
  return Number(count) * milliseconds;
}
