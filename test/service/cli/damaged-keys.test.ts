import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { makeOwnCommandLine } from '../../support/cli.js';
import { tamper } from '../../support/tamper.js';
import { hashOf, rowIDOf } from '../../support/factories.js';

it('keys discard makes the identifier usable again, also while a service runs', async () => {
  const c = await makeOwnCommandLine();
  await c.importKeys([{ key_id: 'k2', org_id: 'acme' }]);
  tamper(join(c.folder, 'keyfront.db'), `UPDATE keys SET alias = 'forged' WHERE id = ${rowIDOf(hashOf('k2'))}`);
  const t = await startApp({ KEYFRONT_DATA: c.folder });
  const create = () =>
    t.send('/svc/org/keys/k2', {
      method: 'POST',
      headers: { 'x-svc-authorization': t.service, 'content-type': 'application/json' },
      body: '{"org_id":"acme","alias":"new"}',
    });
  expect((await create()).status).toBe(500);
  expect((await c.keyfront(['keys', 'discard', hashOf('k2'), '--yes'])).code).toBe(0);
  expect((await create()).status).toBe(200);
  await t.close();
  expect((await c.keyfront(['check'])).code).toBe(0);
});
