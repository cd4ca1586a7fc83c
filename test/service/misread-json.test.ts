import { describe, expect, it, onTestFinished } from 'vitest';
import { parseJSONCarefully } from '../../src/lib/json.js';
import { startApp } from '../support/app.js';
import { misreadJSON } from '../support/misread-json.js';

describe.each(misreadJSON)('the member name of $second, sent after $first', ({ first, second, name }) => {
  const started = async () => {
    const app = await startApp();
    onTestFinished(() => app.close());
    return app;
  };
  const service = (app: Awaited<ReturnType<typeof started>>) => ({ 'x-svc-authorization': app.service });

  it('is kept in a REST preview', async () => {
    const app = await started();
    const preview = async (metaData: string) => {
      const { body } = await app.send('/api/keys/preview', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${app.management}` },
        body: `{"meta_data":${metaData}}`,
      });
      return Object.keys((body['data'] as { meta_data: object }).meta_data)[1];
    };
    expect([await preview(first), await preview(second)]).toEqual(['\\', name]);
  });

  it('is kept in a GraphQL variable and in the stored key, its list and its history', async () => {
    const app = await started();
    await app.importKeys({ key_id: 'one', org_id: 'acme' }, { key_id: 'two', org_id: 'acme' });
    const query =
      'mutation($k: ID!, $m: JSON) { updateOrgKey(keyID: $k, input: {metaData: $m}) { definition { metaData } } }';
    for (const [key, metaData] of [
      ['one', first],
      ['two', second],
    ]) {
      const { status } = await app.send('/graphql', {
        method: 'POST',
        headers: { ...service(app), 'content-type': 'application/json' },
        body: `{"query":${JSON.stringify(query)},"variables":{"k":"${key}","m":${metaData}}}`,
      });
      expect(status).toBe(200);
    }
    const read = async (key: string) => (await app.send(`/svc/org/keys/${key}`, { headers: service(app) })).body;
    const stored = [await read('one'), await read('two')].map(({ data }) => (data as { meta_data: object }).meta_data);
    expect(stored).toEqual([parseJSONCarefully(first), parseJSONCarefully(second)]);
    const { body } = await app.send('/svc/org/keys', { headers: service(app) });
    const listed = (body['keys'] as { data: { meta_data: object } }[]).map(
      ({ data }) => Object.keys(data.meta_data)[1],
    );
    expect(listed.sort()).toEqual(['\\', name].sort());
  });
});
