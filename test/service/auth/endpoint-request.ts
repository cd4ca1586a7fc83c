import type { TestResponse, TestApp } from '../../support/app.js';
import { sendRequest } from '../../support/responses.js';
import type { Endpoint } from './matrix-rows.js';

/** Headers are pairs, so that one may come twice. */
export type Headers = readonly (readonly [string, string])[];

interface Target {
  readonly keyID?: string;
  readonly node?: string;
  readonly query?: string;
}

/** Sends the minimal request of an endpoint with the given headers, by default for the key `k1`. */
export function sendTo(
  t: TestApp,
  endpoint: Endpoint,
  headers: Headers,
  { keyID = 'k1', node = '', query = '' }: Target = {},
) {
  const body = endpoint.body(keyID, node);
  const type: Headers = body === '' ? [] : [['content-type', 'application/json']];
  return t.send(`${endpoint.target(keyID)}${query}`, {
    method: endpoint.method,
    headers: [...type, ...headers] as [string, string][],
    ...(body !== '' && { body }),
  });
}

let keys = 0;

/** The same for a new key of acme in the state that the endpoint requires. */
export async function sendToFreshKey(
  t: TestApp,
  endpoint: Endpoint,
  headers: Headers,
  query = '',
): Promise<TestResponse & { readonly keyID: string }> {
  keys += 1;
  const keyID = `fresh-${keys}.`;
  if (endpoint.key !== 'absent') await t.importKeys({ key_id: keyID, org_id: 'acme', alias: keyID, quota_max: 5 });
  if (endpoint.key === 'rotated') await sendRequest(t, 'POST', `/svc/org/keys/${keyID}/rotate`);
  if (endpoint.key === 'deleted') await sendRequest(t, 'DELETE', `/svc/org/keys/${keyID}`);
  const found = await t.graphql(`{ orgKey(by: { keyID: "${keyID}" }) { id } }`);
  const node = (found.body['data'] as { orgKey: { id: string } | null }).orgKey?.id ?? '';
  return { ...(await sendTo(t, endpoint, headers, { keyID, node, query })), keyID };
}
