import { copyFile, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../support/cli.js';
import { describeEngines, makeOwnPlace, postgres, type EnginePlace } from '../support/engines.js';
import { temporaryFolder } from '../support/folder.js';

let place: EnginePlace;
let c: CommandLine;
let apps: TestApp[];
beforeEach(async () => {
  c = await makeOwnCommandLine();
  apps = [];
});

/** @param behindMs - how late the clock of the host is */
const start = (env: Record<string, string>, behindMs = 0) =>
  startOwnApp(env, { now: () => new Date(Date.now() - behindMs) });
const keyfront = (...args: string[]) => c.keyfront(args, place.env);
const ringOf = (folder: string) => join(folder, 'key-ring.json');
const status = async () => JSON.parse((await keyfront('secrets', 'status', '--json')).out) as { stage: string };

/** What the services of a database server do every 20 seconds. */
async function report(): Promise<void> {
  for (const { app } of apps) await app.services.ringReports.report();
}

/** Each process changes a key that the other one has written, and reads what it has written. */
async function exchange(): Promise<void> {
  for (const [index, writer] of apps.entries()) {
    expect((await writer.update('k1', { alias: `${Math.random()}`, hmac_string: `secret ${index}` })).status).toBe(200);
    for (const reader of apps) {
      const headers = { 'x-svc-authorization': writer.service };
      expect((await reader.send('/svc/org/keys/k1', { headers })).status).toBe(200);
      expect((await reader.send('/ready')).status).toBe(200);
    }
  }
}

/** Starts each process again, one after the other. */
async function restartAll(envs: readonly Record<string, string>[]): Promise<void> {
  for (const [index, env] of envs.entries()) {
    await apps[index]?.close();
    apps[index] = await start(env);
    await exchange();
  }
}

describeEngines('a rotation in stages with two processes that share a key ring', (engine) => {
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
  });

  it('rejects no row of the other process at any stage, with a restart of each process', async () => {
    const envs = [place.env, place.env];
    for (const env of envs) apps.push(await start(env));
    await apps[0]?.importKeys({ key_id: 'k1', org_id: 'acme' });
    for (const [command, stage] of [
      ['add', 'added'],
      ['promote', 'promoted'],
      ['rotate', 'rotated'],
      ['prune', 'complete'],
    ] as const) {
      await report();
      expect(await keyfront('secrets', command), command).toMatchObject({ code: 0 });
      expect(await status()).toMatchObject({ stage });
      await exchange();
      await restartAll(envs);
    }
    expect(await keyfront('check')).toMatchObject({ code: 0 });
    expect(await status()).toMatchObject({ primary_id: 'k2', ids: ['k2'] });
  });

  it('removes the reports of hosts that have not reported for a day', async () => {
    apps.push(await start(place.env));
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    await place.run(
      ...[1, 23, 25].map(
        (hours) =>
          `INSERT INTO settings VALUES ('ring_of pod-${hours}:x', '{"at":"${hoursAgo(hours)}","primaryID":"k1","ids":["k1"]}')`,
      ),
    );
    await report();
    const reports = `SELECT name FROM settings WHERE name LIKE 'ring_of pod-%' ORDER BY name`;
    expect(await place.rows(reports)).toStrictEqual([{ name: 'ring_of pod-1:x' }, { name: 'ring_of pod-23:x' }]);
    expect((await apps[0]?.app.services.ringReports.active())?.map(({ host }) => host)).toStrictEqual([
      `${hostname()}:${ringOf(place.folder)}`,
    ]);
  });

  it('rejects steps out of order', async () => {
    apps.push(await start(place.env));
    const problem = async (command: string) => {
      const { code, stderr } = await keyfront('secrets', command);
      return [code, stderr];
    };
    expect(await problem('promote')).toStrictEqual([1, expect.stringContaining('There is no added key.')]);
    expect(await keyfront('secrets', 'add')).toMatchObject({ code: 0 });
    for (const command of ['add', 'rotate', 'prune']) {
      expect(await problem(command)).toStrictEqual([1, expect.stringContaining('was added and is not promoted')]);
    }
    expect(await keyfront('secrets', 'promote')).toMatchObject({ code: 0 });
    expect(await problem('add')).toStrictEqual([
      1,
      expect.stringContaining('The rotation to the key k2 is incomplete.'),
    ]);
    expect(await keyfront('secrets', 'rotate')).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(ringOf(place.folder), 'utf8'))).toMatchObject({
      keys: [{ id: 'k1' }, { id: 'k2' }],
    });
  });
});

describe.skipIf(postgres.isMissing)(
  `a rotation in stages with a key ring on each of two hosts, on ${postgres.name}`,
  () => {
    let other: Record<string, string>;
    let folder: string;
    beforeEach(async () => {
      place = await makeOwnPlace(postgres);
      apps.push(await start(place.env));
      await apps[0]?.importKeys({ key_id: 'k1', org_id: 'acme' });
      folder = await temporaryFolder();
      other = { ...place.env, KEYFRONT_DATA: folder };
      await distribute();
      apps.push(await start(other));
      await report();
    });
    const distribute = () => copyFile(ringOf(place.folder), ringOf(folder));
    const isRejected = async (command: string, problem: string) =>
      expect(await keyfront('secrets', command)).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });

    it.each(['behind', 'ahead'])('counts the report of a host whose clock is three minutes %s', async (how) => {
      await apps.pop()?.close();
      apps.push(await start(other, how === 'behind' ? 180_000 : -180_000));
      await report();
      await isRejected('rotate', 'Several hosts share the database');
      expect(JSON.parse((await keyfront('secrets', 'status', '--json')).out)).toMatchObject({
        hosts: [expect.anything(), expect.anything()],
      });
    });

    it('rejects no row of the other host at any stage, and no step before the other host is ready for it', async () => {
      await isRejected('rotate', 'Several hosts share the database');
      expect(await keyfront('secrets', 'add')).toMatchObject({ code: 0 });
      await exchange();
      await report();
      await isRejected('promote', `do not have the key k2: `);
      await isRejected('promote', folder);

      await distribute();
      await report();
      await restartAll([place.env, other]);
      expect(await keyfront('secrets', 'promote')).toMatchObject({ code: 0 });
      await exchange();
      await report();
      await restartAll([place.env, other]);
      await isRejected('rotate', `do not use the key k2 yet: `);
      expect(await status()).toMatchObject({
        stage: 'promoted',
        hosts: expect.arrayContaining([
          expect.objectContaining({ host: expect.stringContaining(folder), primary_id: 'k1', ids: ['k2', 'k1'] }),
          expect.objectContaining({ host: expect.stringContaining(place.folder), primary_id: 'k2', ids: ['k1', 'k2'] }),
        ]),
      });

      await distribute();
      await report();
      await exchange();
      expect(await keyfront('secrets', 'rotate')).toMatchObject({ code: 0 });
      await exchange();
      await restartAll([place.env, other]);
      expect(await keyfront('secrets', 'prune')).toMatchObject({ code: 0 });
      await exchange();
      await distribute();
      await restartAll([place.env, other]);
      expect(await keyfront('check')).toMatchObject({ code: 0 });
      expect(await status()).toMatchObject({ stage: 'complete', ids: ['k2'] });
    });
  },
);
