import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../support/cli.js';
import { describeEngines, makeOwnPlace, type EnginePlace, putRowsBack } from '../support/engines.js';
import { rowIDOf } from '../support/factories.js';
import { openOwnServices } from '../support/storage.js';
import { until } from '../support/until.js';

describeEngines('an older row that was put back', (engine) => {
  let t: TestApp;
  let c: CommandLine;
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    c = await makeOwnCommandLine();
  });

  const run = (...statements: readonly string[]) => place.run(...statements);
  const save = (table: string) => run(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`);
  const putBack = (table: string, where: string) => putRowsBack(place, table, `saved_${table}`, where);
  const read = (secret: string) => t.send('/svc/org/keys', { headers: { 'x-svc-authorization': secret } });
  const check = (...options: string[]) => c.keyfront(['check', ...options], place.env);
  const hash = (keyID: string) => t.app.services.ports.hashKeyID(keyID);
  const ofKey = (keyID: string, column = 'id') => `${column} = ${rowIDOf(hash(keyID))}`;
  const consume = (keyID: string, amount: number) =>
    t.graphql(`mutation { consumeOrgQuota(keyID: "${keyID}", amount: ${amount}) { allowed } }`);
  const publish = async () => {
    const { code, out } = await c.keyfront(['head', '--json'], place.env);
    expect(code).toBe(0);
    return { file: await c.file('head.jsonl', out), text: out };
  };
  /** The lines of the check that name a problem. */
  const problemsAgainst = async (file: string) => {
    const { code, stderr } = await check('--against', file);
    const problems = stderr.split('\n').filter((line) => /^The /.test(line));
    expect(code).toBe(problems.length > 0 ? 1 : 0);
    return problems;
  };

  it('of a revoked credential authenticates no request, in this process and in a new one', async () => {
    const { id, secret } = await t.issue('service');
    expect((await read(secret)).status).toBe(200);
    await save('credentials');
    await t.app.services.credentials.revoke(id, t.clock.now);
    expect((await read(secret)).status).toBe(401);
    expect(await check()).toMatchObject({ code: 0 });
    await putBack('credentials', `id = '${id}'`);
    expect((await read(secret)).status).toBe(500);
    expect(t.logs()).toContain(`The credential ${id} is not in its newest state`);
    expect((await read(t.service)).status).toBe(200);
    expect(await check()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `The credential ${id} (test service) is not in its newest state: an older row was put back.`,
      ),
    });
    await t.close();
    t = await startOwnApp(place.env);
    expect((await read(secret)).status).toBe(500);
  });

  it('of the head of the credentials is rejected until the process ends', async () => {
    const { id, secret } = await t.issue('service');
    await save('heads');
    await save('credentials');
    await t.app.services.credentials.revoke(id, t.clock.now);
    expect((await read(secret)).status).toBe(401);
    await putBack('credentials', `id = '${id}'`);
    await putBack('heads', "name = 'credentials'");
    expect((await read(secret)).status).toBe(500);
    expect(t.logs()).toContain('The head of the credentials failed its integrity check');
  });

  describe('with the head of the credentials of that time', () => {
    const saved = async () => {
      const { id, secret } = await t.issue('service');
      expect((await read(secret)).status).toBe(200);
      await save('heads');
      await save('credentials');
      return { id, secret };
    };
    const advance = () => t.app.services.checkpoints.advance({ purgedBefore: new Date(0) });
    const putBoth = async (id: string) => {
      await putBack('credentials', `id = '${id}'`);
      await putBack('heads', "name = 'credentials'");
    };
    const older = 'The head of the credentials is older than the head of the keys';

    it('stops a start, and changes no credential, until the present state is accepted', async () => {
      const { id, secret } = await saved();
      await t.app.services.credentials.revoke(id, t.clock.now);
      await advance();
      await t.close();
      await putBoth(id);
      const next = await startOwnApp(place.env).catch((error: unknown) => error);
      expect(next).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining(older) });
      // A change would make the older head the newest one.
      expect(await c.keyfront(['credentials', 'revoke', id], place.env)).toMatchObject({ code: 1 });
      expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining(older) });
      expect(await c.keyfront(['head', '--accept'], place.env)).toMatchObject({ code: 0 });
      expect(await check()).toMatchObject({ code: 0 });
      expect(await c.keyfront(['credentials', 'revoke', id], place.env)).toMatchObject({ code: 0 });
      t = await startOwnApp(place.env);
      expect((await read(secret)).status).toBe(401);
    });

    it('is rejected from the next check on by a process that has not read the newer head', async () => {
      const { id, secret } = await saved();
      const other = await openOwnServices(place);
      await other.credentials.revoke(id, t.clock.now);
      await other.checkpoints.advance({ purgedBefore: new Date(0) });
      await putBoth(id);
      expect((await read(secret)).status).toBe(200);
      await expect(t.app.services.credentials.verifyHead()).rejects.toThrow(older);
      for (const one of [secret, secret, t.service]) expect((await read(one)).status).toBe(500);
    });

    it('is logged by a service that gets no request', async () => {
      const { id } = await saved();
      await t.app.services.credentials.revoke(id, t.clock.now);
      await advance();
      t = await startOwnApp(place.env, { jobsEveryMs: 1 });
      await putBoth(id);
      await until(() => t.logs().includes(older), 'The line in the log');
      expect(t.logs()).toContain('the head of the credentials could not be verified');
    });
  });

  it('is named by check where a credential vanished', async () => {
    const { id } = await t.issue('service');
    await run(`DELETE FROM credentials WHERE id = '${id}'`);
    expect(await check()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The credential ${id} is missing.`),
    });
  });

  it('is not hidden by deleting the head of the credentials, which does not begin again at the next start', async () => {
    await run('DELETE FROM heads');
    expect((await read(t.service)).status).toBe(500);
    expect(t.logs()).toContain('The head of the credentials failed its integrity check');
    expect(await check()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The head of the credentials fails the integrity check.'),
    });
    const next = await startOwnApp(place.env).catch((error: unknown) => error);
    expect(next).toMatchObject({ code: 'INTERNAL' });
  });

  it('is not reported after the use and the rotation of credentials, and a rotation of the key ring', async () => {
    const { id, secret } = await t.issue('service');
    expect((await read(secret)).status).toBe(200);
    await t.app.services.credentials.markUsed(new Map([[id, t.clock.now]]));
    expect((await read(secret)).status).toBe(200);
    expect(await c.keyfront(['credentials', 'rotate', id], place.env)).toMatchObject({ code: 0 });
    expect((await read(secret)).status).toBe(200);
    expect(await c.keyfront(['secrets', 'rotate'], place.env)).toMatchObject({ code: 0 });
    expect(await c.keyfront(['secrets', 'prune', '--yes'], place.env)).toMatchObject({ code: 0 });
    expect((await read(secret)).status).toBe(200);
    expect(await check()).toMatchObject({ code: 0 });
  });

  it('of a revoked credential is named against a head, also with the older head of the credentials', async () => {
    const { id } = await t.issue('service');
    await save('credentials');
    await save('heads');
    await t.app.services.credentials.revoke(id, t.clock.now);
    const { file } = await publish();
    await putBack('credentials', `id = '${id}'`);
    await putBack('heads', "name = 'credentials'");
    expect(await check()).toMatchObject({ code: 0 });
    expect(await problemsAgainst(file)).toStrictEqual([
      `The credential ${id} (test service) was revoked in the head, and is not revoked any more.`,
    ]);
  });

  it('of a key and its history is named against a head: lost changes, a refilled quota, a vanished key', async () => {
    await t.importKeys(
      { key_id: 'changed', org_id: 'acme', alias: 'one' },
      { key_id: 'used', org_id: 'acme', quota_max: 100 },
      { key_id: 'gone', org_id: 'acme', alias: 'two' },
      { key_id: 'same', org_id: 'acme', alias: 'three' },
    );
    await consume('used', 10);
    await save('keys');
    await consume('used', 80);
    await t.update('changed', { alias: 'newest' });
    const { file, text } = await publish();
    for (const secret of ['changed"', '"gone"', t.service]) expect(text).not.toContain(secret);
    expect(await problemsAgainst(file)).toStrictEqual([]);

    for (const key of ['used', 'changed']) await putBack('keys', ofKey(key));
    await run(`DELETE FROM history WHERE ${ofKey('changed', 'key')} AND version = 2`);
    await run(`DELETE FROM keys WHERE ${ofKey('gone')}`);
    for (const table of ['history', 'key_terms']) await run(`DELETE FROM ${table} WHERE ${ofKey('gone', 'key')}`);
    expect(await check()).toMatchObject({ code: 0 });
    expect((await problemsAgainst(file)).toSorted()).toStrictEqual(
      [
        `The key ${hash('changed')} has version 1; it had version 2 in the head.`,
        `The key ${hash('gone')} is missing; it had version 1 in the head.`,
        `The used quota of ${hash('used')} went back from 90 to 10 without a reset.`,
      ].toSorted(),
    );
  });

  it('of a key is named against a head after a new change, which makes another history', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await save('keys');
    await t.update('k1', { alias: 'two' });
    const { file } = await publish();
    await putBack('keys', ofKey('k1'));
    await run(`DELETE FROM history WHERE ${ofKey('k1', 'key')} AND version = 2`);
    await t.update('k1', { alias: 'other' });
    expect(await check()).toMatchObject({ code: 0 });
    expect(await problemsAgainst(file)).toStrictEqual([
      `The history of ${hash('k1')} up to version 2 differs from the head.`,
    ]);
  });

  it('is not reported against a head after changes, a reset, a deletion, a purge, a rotation and a revocation', async () => {
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme', quota_max: 100 },
      { key_id: 'deleted', org_id: 'acme' },
      { key_id: 'old', org_id: 'acme' },
    );
    const { id } = await t.issue('service');
    await consume('k1', 50);
    await t.graphql('mutation { deleteOrgKey(keyID: "old") { version } }');
    const { file } = await publish();
    await t.update('k1', { quota_max: 90 });
    await t.graphql('mutation { resetOrgQuotas(filter: {}, dryRun: false) { dryRun } }');
    await t.graphql('mutation { deleteOrgKey(keyID: "deleted") { version } }');
    await t.app.services.credentials.revoke(id, t.clock.now);
    expect(await c.keyfront(['secrets', 'rotate'], place.env)).toMatchObject({ code: 0 });
    expect(await problemsAgainst(file)).toStrictEqual([]);
  });

  it.each([
    ['was changed', (text: string) => text.replace('"version":1', '"version":2'), 'was changed after it was written'],
    ['is incomplete', (text: string) => text.split('\n').slice(0, -2).join('\n'), 'is not a complete head'],
    [
      'is of another key ring',
      (text: string) => text.replace(/"seal":"[^"]+"/, '"seal":"AQJrMQ=="'),
      'was not written with this key ring',
    ],
  ])('is not looked for with a head that %s', async (_, change, message) => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const file = await c.file('changed.jsonl', change((await publish()).text));
    expect(await check('--against', file)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  });

  it.each([
    ['a log', '{"level":"info","msg":"listening"}\n{"level":"info","msg":"stopping"}\n'],
    ['an empty file', ''],
    ['no JSON', 'one\ntwo\n'],
  ])('is not looked for with %s without a head, and the reason names both kinds of file', async (_, text) => {
    const { code, stderr } = await check('--against', await c.file('service.log', text));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /service\.log contains no head: neither a line `head published` .*, nor the output of `keyfront head --json`/,
    );
  });
});
