import { describe, expect, it } from 'vitest';
import { parseJSONCarefully } from '../../src/lib/json.js';
import { startOwnApp } from '../support/app.js';
import { misreadJSON } from '../support/misread-json.js';
import { sendRequest } from '../support/responses.js';

describe.each(misreadJSON)('the member name of $second, sent after $first', ({ first, second, name }) => {
  it('is kept in a REST preview', async () => {
    const app = await startOwnApp();
    const preview = async (metaData: string) => {
      const { body } = await app.preview(`{"meta_data":${metaData}}`);
      return Object.keys((body['data'] as { meta_data: object }).meta_data)[1];
    };
    expect([await preview(first), await preview(second)]).toEqual(['\\', name]);
  });

  it('is kept in a GraphQL variable and in the stored key, its list and its history', async () => {
    const app = await startOwnApp();
    await app.importKeys({ key_id: 'one', org_id: 'acme' }, { key_id: 'two', org_id: 'acme' });
    const query =
      'mutation($k: ID!, $m: JSON) { updateOrgKey(keyID: $k, input: {metaData: $m}) { orgKey { definition { metaData } } } }';
    for (const [key, metaData] of [
      ['one', first],
      ['two', second],
    ]) {
      await app.post(`{"query":${JSON.stringify(query)},"variables":{"k":"${key}","m":${metaData}}}`);
    }
    const read = async (key: string) => (await sendRequest(app, 'GET', `/svc/org/keys/${key}`)).body;
    const stored = [await read('one'), await read('two')].map(({ data }) => (data as { meta_data: object }).meta_data);
    expect(stored).toEqual([parseJSONCarefully(first), parseJSONCarefully(second)]);
    const { body } = await sendRequest(app, 'GET', '/svc/org/keys');
    const listed = (body['keys'] as { data: { meta_data: object } }[]).map(
      ({ data }) => Object.keys(data.meta_data)[1],
    );
    expect(listed.sort()).toEqual(['\\', name].sort());
  });
});
