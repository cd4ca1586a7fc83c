import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJSON } from '../../../src/lib/json.js';
import { startApp } from '../../support/app.js';
import { makeCommandLine, type CommandLine } from '../../support/cli.js';
import { postgres, type EnginePlace } from '../../support/engines.js';

describe.skipIf(postgres.isMissing)(`the command line on ${postgres.name}`, () => {
  let place: EnginePlace;
  let c: CommandLine;
  beforeEach(async () => {
    place = await postgres.make();
    c = await makeCommandLine();
    const t = await startApp(place.env);
    await t.importKeys({ key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 100, per: 60 });
    await t.close();
  });
  afterEach(async () => {
    await c.remove();
    await place.remove();
  });

  it('reads and changes keys without a SQLite file', async () => {
    const got = await c.keyfront(['get', 'billing'], place.env);
    expect(got).toMatchObject({ code: 0 });
    expect(parseJSON(got.out)).toMatchObject({ alias: 'Billing' });
    const file = await c.file('billing.json', '{"alias":"Changed","rate":50,"per":60}');
    expect(await c.keyfront(['put', 'billing', file, '--reason', 'a test'], place.env)).toMatchObject({ code: 0 });
    expect((await c.keyfront(['history', 'billing'], place.env)).out).toContain('a test');
    expect((await c.keyfront(['keys', 'export'], place.env)).out).toContain('"alias":"Changed"');
  });

  it('refers to the tools of PostgreSQL for backup and restore', async () => {
    const folder = `${c.folder}-backup`;
    const [made, restored] = [
      await c.keyfront(['backup', folder], place.env),
      await c.keyfront(['restore', folder], place.env),
    ];
    expect([made.code, made.stderr]).toStrictEqual([1, expect.stringContaining('pg_dump')]);
    expect([restored.code, restored.stderr]).toStrictEqual([1, expect.stringContaining('pg_restore')]);
  });
});
