import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runCommand, type Outcome } from '../../support/cli.js';
import { temporaryFolder } from '../../support/folder.js';
import { startOwnServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

let s: TestServer;
let file: string;
let service: string;
let adapter: string;
beforeEach(async () => {
  s = await startOwnServer();
  s.t.clock.now = new Date();
  file = join(await temporaryFolder(), 'keys');
  service = (await s.t.issue('service')).secret;
  adapter = (await s.t.issue('service', { scopes: ['read', 'deliver'] })).secret;
  await s.t.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'acme' });
});

const command = (args: readonly string[]) =>
  runCommand(args, { KEYFRONT_URL: s.url, KEYFRONT_SERVICE_CREDENTIAL: service });

/** Runs `deliver file` until the work is done. */
async function whileDelivering(args: readonly string[], work: () => Promise<unknown>): Promise<Outcome> {
  let stop = () => undefined as void;
  const env = { KEYFRONT_URL: s.url, KEYFRONT_SERVICE_CREDENTIAL: adapter };
  const ended = runCommand(['deliver', 'file', file, ...args], env, false, {
    onStop: (callback) => (stop = callback),
  });
  try {
    await Promise.race([work(), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
  } finally {
    stop();
  }
  return ended;
}

const untilListed = (text: string) => until(async () => (await command(['gateways', 'list'])).out.includes(text), text);

describe('the commands for gateways', () => {
  it('say what to do when there is none', async () => {
    expect(await command(['gateways', 'list'])).toMatchObject({
      code: 0,
      out: '',
      stderr: 'No gateway acknowledges changes. Start its adapter with --gateway NAME.\n',
    });
    expect(await command(['drift', 'edge-1'])).toMatchObject({ code: 1, stderr: 'There is no gateway edge-1.\n' });
    expect((await command(['gateways', 'forget', 'edge-1'])).code).toBe(1);
    const { code, stderr } = await command(['delete', 'k1', '--yes', '--wait', 'edge-1']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Nothing was changed.')]);
    expect((await command(['get', 'k1'])).code).toBe(0);
  });

  it('list, compare and wait for the file of an adapter, and forget it', async () => {
    const { code } = await whileDelivering(['--gateway', 'edge-1'], async () => {
      await untilListed('edge-1  all           0 s');
      const compared = await command(['drift', 'edge-1']);
      expect(compared).toMatchObject({
        code: 0,
        out: 'edge-1: has all 2 keys as they were at its cursor; its lag is 0 s\n',
      });
      const removed = await command(['delete', 'k1', '--yes', '--wait', 'edge-1', '--wait-timeout', '60']);
      expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('edge-1: acknowledged.')]);
      expect(readFileSync(file, 'utf8')).not.toContain('"k1"');
      for (const args of [
        ['restore', 'k1'],
        ['rotate', 'k2'],
      ]) {
        expect((await command(['keys', ...args, '--wait', 'edge-1'])).code).toBe(0);
      }
    });
    expect(code).toBe(0);
    const late = await command(['delete', 'k1', '--yes', '--wait', 'edge-1', '--wait-timeout', '1']);
    expect([late.code, late.stderr]).toEqual([
      3,
      expect.stringContaining('edge-1: not acknowledged within 1 s. The change is made.'),
    ]);
    const { out } = await command(['gateways', 'list', '--json']);
    expect(JSON.parse(out)).toMatchObject({ name: 'edge-1', org_id: null, digest: expect.any(String) });
    expect((await command(['gateways', 'forget', 'edge-1'])).code).toBe(0);
    expect((await command(['gateways', 'list'])).out).toBe('');
  });

  it('do not acknowledge while the command of the adapter fails', async () => {
    await whileDelivering(['--gateway', 'edge-1', '--run', 'exit 7'], async () => {
      await untilListed('edge-1  all           reads all keys');
      await until(() => readFileSync(file, 'utf8') !== '').catch(() => undefined);
      expect((await command(['drift', 'edge-1'])).out).toBe('edge-1: reads all keys anew\n');
    });
  });

  it('find a copy that differs', async () => {
    const { feed, gateways } = s.t.app.services;
    const cursor = await feed.latestCursor();
    const at = s.t.clock.now;
    await gateways.acknowledge({ orgID: 'acme', name: 'edge-1', cursor, digest: 'ab'.repeat(32), at });
    const { code, out } = await command(['drift', 'edge-1', '--json']);
    expect([code, JSON.parse(out)]).toEqual([1, expect.objectContaining({ drift: 'different', keys: 2 })]);
    await gateways.acknowledge({ orgID: 'acme', name: 'edge-1', cursor, digest: undefined, at });
    expect((await command(['drift', 'edge-1'])).out).toBe('edge-1 of acme: sends no digest\n');
  });

  it.each([
    ['--wait', ','],
    ['--wait', Array.from({ length: 51 }, () => 'a').join()],
    ['--wait-timeout', '5'],
    ['--wait', 'a', '--wait-timeout', 'soon'],
  ])('reject %s %s', async (...args) => {
    expect((await command(['delete', 'k1', '--yes', ...args])).code).toBe(2);
  });
});
