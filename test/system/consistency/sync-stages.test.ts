import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';
import { temporaryFolder } from '../../support/folder.js';
import { Copy, ghost, initial, SyncedService } from '../../support/synced-service.js';
import { until } from '../../support/until.js';

describe('sync, stopped at each stage', () => {
  it('has everything in the end, wherever the adapter is stopped', async () => {
    let stages = 0;
    for (let crashAt = 1; stages === 0; crashAt += 1) {
      const s = new SyncedService(await startApp());
      await s.t.importKeys(...initial);
      await s.asAdapter();
      const copy = new Copy();
      copy.keys.set('ghost', ghost);
      copy.crashAt = crashAt;
      await s.whileSyncing(copy, async () => {
        await s.untilSame(copy);
        await s.changeEverything();
        await s.untilSame(copy);
      });
      await s.t.close();
      if (copy.crashes === 0) stages = crashAt;
    }
    expect(stages).toBeGreaterThan(15);
  });

  it('has everything in the end, wherever the service is restarted, while keys are changed', async () => {
    let stages = 0;
    for (let restartAt = 1; stages === 0; restartAt += 1) {
      const settings = { KEYFRONT_DATA: await temporaryFolder() };
      // Identifiers that no earlier run of the service has generated.
      const overrides = { randomHex: () => randomBytes(16).toString('hex') };
      const s = new SyncedService(await startApp(settings, overrides));
      const many = Array.from({ length: 250 }, (_, index) => ({ key_id: `m${index}`, org_id: 'acme' }));
      await s.t.importKeys(...initial, ...many);
      await s.asAdapter();
      let requests = 0;
      let restarting: Promise<void> | undefined;
      const restart = async () => {
        await s.t.close();
        s.t = await startApp(settings, overrides);
      };
      const client = s.clientOf(async (input, init) => {
        requests += 1;
        if (requests === restartAt) restarting = s.inTurn(restart);
        if (restarting) await restarting;
        if (requests === restartAt) throw new TypeError('fetch failed');
        return s.t.app.fetch(new Request(input, init));
      });
      const copy = new Copy();
      await s.whileSyncing(
        copy,
        async () => {
          await until(() => copy.keys.size > 0);
          await s.changeEverything();
          await until(() => copy.saved !== undefined);
          await s.change('patchOrgKey(keyID: "m7", patch: {alias: "changed"}) { version }');
          await until(() => copy.keys.get(hashOf('m7'))?.version === 2);
          await s.untilSame(copy);
        },
        {},
        client,
      );
      await s.t.close();
      if (requests < restartAt) stages = restartAt;
    }
    // The first subscription, three pages, the second subscription, and no further request.
    expect(stages).toBeGreaterThan(5);
  });
});
