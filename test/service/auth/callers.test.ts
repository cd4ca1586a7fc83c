import { expect, it } from 'vitest';
import { builder } from '../../../src/graphql/schema/builder.js';
import { startSharedApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'a', org_id: 'acme' }, { key_id: 'g', org_id: 'globex' });

/** Not called: an operation that does not state its credential does not compile. */
export function addUnstatedOperation(): void {
  // @ts-expect-error -- `credential` is missing
  builder.queryField('unstated', (field) => field.field({ type: 'Int', nullable: true, resolve: () => null }));
}

it('A-08 each field of a document has the caller of the credential that it requires', async () => {
  const management = await t.issue('management', { orgID: 'acme' });
  const service = await t.issue('service', { orgID: 'globex' });
  const headers = { authorization: `Bearer ${management.secret}`, 'x-svc-authorization': service.secret };
  const query = `{
    previewKey(input: { orgID: "acme", alias: "x" }) { data { alias } }
    foreign: previewKey(input: { orgID: "globex" }) { keyHash }
    orgKey(by: { keyID: "g" }) { orgID organization { id } history { edges { cursor } } }
    hidden: orgKey(by: { keyID: "a" }) { orgID }
  }`;
  const response = await t.graphql(query, {}, headers);
  expect(response.body['data']).toEqual({
    previewKey: { data: { alias: 'x' } },
    foreign: null,
    orgKey: { orgID: 'globex', organization: { id: 'globex' }, history: { edges: [{ cursor: '1' }] } },
    hidden: null,
  });
  expect(codeOf(response)).toBe('FORBIDDEN');
});
