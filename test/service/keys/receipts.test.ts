import { beforeEach, expect, it } from 'vitest';
import { verifyInstallation } from '../../../src/cli/check.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { runCommand } from '../../support/cli.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { codeOf, dataOf } from '../../support/responses.js';

describeEngines('receipts in a database that another program changes', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys({ key_id: 'a', org_id: 'acme', quota_max: 100 });
  });

  const consume = (key: string) =>
    t.graphql('mutation ($key: String) { consumeOrgQuota(keyID: "a", idempotencyKey: $key) { quota { used } } }', {
      key,
    });
  const later = (seconds: number) => {
    t.clock.now = new Date(t.clock.now.getTime() + seconds * 1_000);
  };
  const count = () => t.app.services.receiptCounts.advance(t.clock.now);
  const problems = async () => (await verifyInstallation(t.app.services, () => undefined)).problems;
  /** Two requests, the second of which was a minute later, and the receipts of both. */
  async function twoReceipts(): Promise<[first: string, second: string]> {
    await count();
    later(60);
    await consume('k1');
    later(60);
    await consume('k2');
    const [first, second] = await place.rows<{ id: string }>('SELECT id FROM receipts ORDER BY at');
    return [first?.id ?? '', second?.id ?? ''];
  }

  it.each<[string, (first: string, second: string) => string]>([
    [
      'was replaced by that of another request',
      (first, second) =>
        `UPDATE receipts SET sealed = (SELECT sealed FROM receipts WHERE id = '${second}') WHERE id = '${first}'`,
    ],
    ['has another time', (first) => `UPDATE receipts SET at = at - 86400000 WHERE id = '${first}'`],
    ['was edited', (first) => `UPDATE receipts SET sealed = ${place.bytes('020000')} WHERE id = '${first}'`],
  ])('are INTERNAL, logged and named by `check` if one %s, and nothing is consumed', async (_, change) => {
    const [first, second] = await twoReceipts();
    expect(await problems()).toEqual([]);
    await place.run(change(first, second));
    expect(codeOf(await consume('k1'))).toBe('INTERNAL');
    expect(t.logLines(`The receipt ${first} failed its integrity check`)).toHaveLength(1);
    expect(dataOf(await consume('k2'))).toEqual({ quota: { used: 2 } });
    expect(dataOf(await consume('k3'))).toEqual({ quota: { used: 3 } });
    const problem = `The receipt ${first} of a request with an idempotency key fails the integrity check.`;
    expect(await problems()).toEqual([problem]);
    const { code, stderr } = await runCommand(['check'], place.env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
  });

  const missing = (number: string) =>
    `${number} missing of requests with an idempotency key in the hour from 2026-01-31T12:00:00.000Z: repeated, they would be carried out again.`;

  it('are missed by `check` if they were counted and removed, until they would have expired', async () => {
    const [first, second] = await twoReceipts();
    // The second one is counted when its transaction has ended for certain.
    await count();
    await place.run(`DELETE FROM receipts WHERE id = '${second}'`);
    expect(await problems()).toEqual([]);
    await place.run(`DELETE FROM receipts WHERE id = '${first}'`);
    expect(await problems()).toEqual([missing('1 receipt is')]);
    await consume('k3');
    later(20);
    await count();
    expect(await problems()).toEqual([missing('1 receipt is')]);
    await place.run(`DELETE FROM receipts WHERE id <> '${first}'`);
    expect(await problems()).toEqual([missing('2 receipts are')]);
    // Another receipt in their place does not open.
    await consume('k4');
    await place.run(`UPDATE receipts SET at = at - 120000`);
    expect(await problems()).toEqual([
      missing('1 receipt is'),
      expect.stringMatching(
        /^The receipt [\da-f]{64} of a request with an idempotency key fails the integrity check\.$/,
      ),
    ]);
    await place.run('DELETE FROM receipts');
    later(23 * 3_600);
    expect(await problems()).toEqual([missing('2 receipts are')]);
    later(3_600);
    expect(await problems()).toEqual([]);
  });

  it('are not missed when they expire, are removed by the same request a day later, and are counted by several processes', async () => {
    const other = await startOwnApp(place.env);
    const [first, second] = [t.app.services.receiptCounts, other.app.services.receiptCounts];
    for (let minutes = 0; minutes < 27 * 60; minutes += 30) {
      later(1_800);
      await consume(`k${minutes % 1_440}`);
      await Promise.all([first.advance(t.clock.now), second.advance(t.clock.now)]);
      if (minutes % 60 === 30) await t.app.services.store.purgeReceipts(new Date(t.clock.now.getTime() - 86_400_000));
      if (minutes % 360 === 30) expect(await problems()).toEqual([]);
    }
    expect(await problems()).toEqual([]);
    await place.run('DELETE FROM receipts');
    const found = (await problems()).map((problem) => Number(/^\d+/.exec(problem)?.[0]));
    // The hour that begins to expire is left out, and so is the receipt of now.
    expect(found.reduce((sum, number) => sum + number)).toBeGreaterThanOrEqual(23 * 2 - 1);
  });

  it('are not missed when the clock was a day ahead and is set back', async () => {
    await count();
    later(86_400);
    await consume('ahead');
    later(20);
    await count();
    later(-86_400);
    for (const key of ['k1', 'k2']) {
      later(30);
      await consume(key);
      later(30);
      await count();
    }
    later(86_400 - 1_800);
    await count();
    later(1_800);
    await count();
    expect(await problems()).toEqual([]);
  });

  it('have counts that are rejected if they are older or edited, and begin again with `head --accept`', async () => {
    const [first] = await twoReceipts();
    await place.run("CREATE TABLE saved AS SELECT * FROM heads WHERE name = 'receipts'");
    await count();
    later(60);
    const putBack = async () =>
      place.tamper(
        "UPDATE heads SET (sequence, content, mac) = (SELECT sequence, content, mac FROM saved) WHERE name = 'receipts'",
      );
    await putBack();
    await expect(count()).rejects.toThrow('The head of the receipts failed its integrity check');
    await place.tamper("DELETE FROM heads WHERE name = 'receipts'");
    await expect(count()).rejects.toThrow('The head of the receipts failed its integrity check');
    expect(await problems()).toEqual(['The head of the receipts fails the integrity check.']);
    expect(await runCommand(['head', '--accept'], place.env)).toMatchObject({ code: 0 });
    const next = await startOwnApp(place.env);
    await next.app.services.receiptCounts.advance(t.clock.now);
    await place.run(`DELETE FROM receipts WHERE id = '${first}'`);
    expect((await verifyInstallation(next.app.services, () => undefined)).problems).toEqual([]);
  });
});
