import type { StoredCredential } from '../../../credentials/credential.js';
import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { toJSONLine } from '../../output/json.js';
import { formatTable } from '../../output/table.js';

export const listCredentialsCommand: CLICommand = {
  name: 'credentials list',
  summary: 'List credentials with their state and last use, without their secrets',
  options: { json: { description: 'Print one line of JSON per credential', isCommon: true } },
  examples: ['keyfront credentials list', 'keyfront credentials list --json | jq -r "select(.expires == null).id"'],
  environment: storageVariables,
  run: list,
};

const headings = [
  'ID',
  'KIND',
  'STATE',
  'LAST 4',
  'ORGANISATION',
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
      stateOf(credential, now()),
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
    state: stateOf(credential, now),
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

/** A replaced credential stays valid until it expires. */
function stateOf({ revoked, expires, successorID }: StoredCredential, now: Date): string {
  if (revoked) return 'revoked';
  if (expires && expires <= now) return 'expired';
  return successorID === undefined ? 'active' : 'replaced';
}
