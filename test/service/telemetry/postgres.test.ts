import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import { startApp, type TestApp } from '../../support/app.js';
import { postgres, type EnginePlace } from '../../support/engines.js';
import { createTestTelemetry, type TestTelemetry } from '../../support/telemetry.js';

describe.skipIf(postgres.isMissing)(`metrics and traces of ${postgres.name}`, () => {
  let place: EnginePlace;
  let telemetry: TestTelemetry;
  let t: TestApp;
  beforeEach(async () => {
    place = await postgres.make();
    telemetry = createTestTelemetry();
    t = await startApp(place.env, {}, telemetry);
    await t.importKeys({ key_id: 'billing', org_id: 'acme' });
  });
  afterEach(async () => {
    await t.close();
    await place.remove();
  });

  it('count the changes of a group and those that fail with storage, and report readiness', async () => {
    expect(await telemetry.valueOf('keyfront_ready')).toBe(1);
    await Promise.all(Array.from({ length: 20 }, (_, rate) => t.update('billing', { org_id: 'acme', rate })));
    expect(await telemetry.valueOf('keyfront_commit_batch_size_sum')).toBe(20);
    const count = await telemetry.valueOf('keyfront_commit_batch_size_count');
    expect(count).toBeLessThanOrEqual(20);
    expect(await telemetry.valueOf('keyfront_commit_duration_seconds_count')).toBe(count);
    expect(await telemetry.series('keyfront_queue_length')).toMatchObject({ 'queue="commits"': 0 });
    await t.update('unknown', { org_id: 'acme' });
    expect(await telemetry.valueOf('keyfront_commit_failures_total')).toBe(0);
    await place.database?.run('ALTER TABLE key_terms RENAME TO key_terms_away');
    expect((await t.update('billing', { org_id: 'acme', tags: ['new'] })).status).toBe(500);
    expect(await telemetry.valueOf('keyfront_commit_failures_total')).toBe(1);
  });

  it('have a span for each change in its request, with the size of its group', async () => {
    await Promise.all(Array.from({ length: 4 }, (_, rate) => t.update('billing', { org_id: 'acme', rate })));
    const requests = telemetry.spans().filter(({ name }) => name === 'PUT /svc/org/keys/*');
    const commits = telemetry.spans().filter(({ name }) => name === 'commit');
    expect(commits.map(({ parentID }) => parentID).toSorted()).toEqual(requests.map(({ spanID }) => spanID).toSorted());
    expect(commits).toHaveLength(4);
    const reject = () => {
      throw new AppError('CONFLICT', 'Not now.');
    };
    // At the same moment, so that they are certain to be of one group.
    const { store } = t.app.services;
    await Promise.allSettled(['a', 'b', 'c'].map((keyHash) => store.update(keyHash, reject)));
    const last = telemetry.spans().slice(-3);
    expect(last.map(({ attributes }) => attributes['keyfront.commit.batch_size'])).toEqual([3, 3, 3]);
  });
});
