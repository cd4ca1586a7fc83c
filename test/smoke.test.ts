import { expect, it } from 'vitest';
import { startApp } from './support/app.js';

it('previews through both faces', async () => {
  const t = await startApp();
  expect((await t.preview({ alias: 'x' })).status).toBe(200);
  await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 10 });
  expect((await t.update('k1', { alias: 'y' })).body).toMatchObject({ action: 'modified', status: 'ok', key: 'k1' });
  expect((await t.graphql('{ previewKey(input: {alias: "x"}) { keyID } }')).body).toMatchObject({
    data: { previewKey: {} },
  });
  await t.close();
});
