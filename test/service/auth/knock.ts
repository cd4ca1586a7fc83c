import type { Answer, TestApp } from '../../support/app.js';
import { ask } from '../../support/answers.js';
import type { Door } from './matrix-rows.js';

/** Headers are pairs, so that one may come twice. */
export type Headers = readonly (readonly [string, string])[];

interface About {
  readonly keyID?: string;
  readonly node?: string;
  readonly query?: string;
}

/** Sends the minimal request of a door with the given headers; about the key `k1` unless told otherwise. */
export function knock(t: TestApp, door: Door, headers: Headers, { keyID = 'k1', node = '', query = '' }: About = {}) {
  const body = door.body(keyID, node);
  const type: Headers = body === '' ? [] : [['content-type', 'application/json']];
  return t.send(`${door.target(keyID)}${query}`, {
    method: door.method,
    headers: [...type, ...headers] as [string, string][],
    ...(body !== '' && { body }),
  });
}

let keys = 0;

/** The same about a key of acme's that is as the door needs it, and that no other request is about. */
export async function knockFresh(
  t: TestApp,
  door: Door,
  headers: Headers,
  query = '',
): Promise<Answer & { readonly keyID: string }> {
  keys += 1;
  const keyID = `fresh-${keys}.`;
  if (door.key !== 'absent') await t.importKeys({ key_id: keyID, org_id: 'acme', alias: keyID, quota_max: 5 });
  if (door.key === 'deleted') await ask(t, 'DELETE', `/svc/org/keys/${keyID}`);
  const found = await t.graphql(`{ orgKey(keyID: "${keyID}") { id } }`);
  const node = (found.body['data'] as { orgKey: { id: string } | null }).orgKey?.id ?? '';
  return { ...(await knock(t, door, headers, { keyID, node, query })), keyID };
}
