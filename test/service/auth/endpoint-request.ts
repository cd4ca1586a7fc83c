import { hookTo } from '../../support/webhooks.js';
import type { TestResponse, TestApp } from '../../support/app.js';
import { sendRequest } from '../../support/responses.js';
import type { Endpoint } from './matrix-rows.js';

/** Headers are pairs, so that one may come twice. */
export type Headers = readonly (readonly [string, string])[];

interface Target {
  readonly keyID?: string;
  readonly node?: string;
  readonly query?: string;
  readonly proposal?: string;
  readonly credential?: string;
  readonly webhook?: string;
}

/** Sends the minimal request of an endpoint with the given headers, by default for the key `k1`. */
export function sendTo(
  t: TestApp,
  endpoint: Endpoint,
  headers: Headers,
  { keyID = 'k1', node = '', query = '', proposal = '', credential = '', webhook = '' }: Target = {},
) {
  const body = endpoint.body(keyID, node, proposal, credential, webhook);
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
  if (/[gG]ateway/.test(endpoint.name) || endpoint.name.endsWith('orgKeyDeployed')) {
    const gateway = { orgID: 'acme', name: 'known', cursor: undefined, digest: undefined, at: t.clock.now };
    await t.app.services.gateways.acknowledge(gateway);
  }
  const found = await t.graphql(`{ orgKey(by: { keyID: "${keyID}" }) { id } }`);
  const node = (found.body['data'] as { orgKey: { id: string } | null }).orgKey?.id ?? '';
  const proposal = endpoint.key === 'proposed' ? await proposalFor(t, endpoint, headers, keyID) : '';
  const issued = endpoint.key === 'issued' ? await t.issue('service', { orgID: 'acme', scopes: ['admin'] }) : undefined;
  const webhook = /Webhook/.test(endpoint.name) ? await webhookFor(t, endpoint) : '';
  const target = { keyID, node, query, proposal, credential: issued?.id ?? '', webhook };
  return { ...(await sendTo(t, endpoint, headers, target)), keyID };
}

/** Adds a webhook if the endpoint requires one. Removes all others, of which there is a maximum. */
async function webhookFor({ app }: TestApp, { key }: Endpoint): Promise<string> {
  const { webhooks } = app.services;
  for (const { id } of (await webhooks.list()).intact) await webhooks.remove(id);
  // Nothing listens there.
  return key === 'hooked' ? (await hookTo({ app }, 'http://127.0.0.1:1/', { orgID: 'acme' })).id : '';
}

/** Proposes a change as the caller if the endpoint requires that and the caller can, and as another person otherwise. */
async function proposalFor(t: TestApp, { name }: Endpoint, headers: Headers, keyID: string): Promise<string> {
  const query = `mutation { proposeKeyChange(keyID: "${keyID}", change: { patch: { patch: { alias: "p" } } }) { id } }`;
  const propose = async (proposer: Headers) => {
    const response = await t.send('/graphql', {
      method: 'POST',
      headers: [['content-type', 'application/json'], ...proposer] as [string, string][],
      body: JSON.stringify({ query }),
    });
    return (response.body['data'] as { proposeKeyChange: { id: string } | null } | undefined)?.proposeKeyChange?.id;
  };
  const own = name.endsWith('withdrawKeyProposal') ? await propose(headers) : undefined;
  if (own !== undefined) return own;
  const { secret } = await t.issue('service', { label: 'another person' });
  return (await propose([['x-svc-authorization', secret]])) ?? '';
}
