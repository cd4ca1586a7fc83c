import { describe, expect, it } from 'vitest';
import { exhaustionAt, explainState, periodOf } from '../../../src/console/key/explain-state.js';
import type { KeyDetails } from '../../../src/console/key/read-key.js';
import { stateOf, type KeyStatus } from '../../../src/console/key-state.js';

const now = Date.parse('2026-06-01T12:00:00Z');
const seconds = now / 1000;
const day = 86_400;
const quota = (used: number, max: number | null = 100, renewsAt: string | null = null) => ({
  max,
  used,
  remaining: max === null ? null : Math.max(0, max - used),
  renewsAt,
});
const active: KeyStatus = { state: 'ACTIVE', definition: { expires: null }, quota: quota(1) };

describe('the state of a key in words', () => {
  it.each<[Partial<KeyStatus>, string, string]>([
    [{}, 'ok', 'Active'],
    [{ quota: null }, 'ok', 'Active'],
    [{ quota: quota(100) }, 'bad', 'Quota exhausted'],
    [{ definition: { expires: seconds + 6 * day } }, 'warn', 'Expires in 6 days'],
    [{ definition: { expires: seconds + 31 * day } }, 'ok', 'Active'],
    [{ definition: { expires: 0 } }, 'ok', 'Active'],
    [{ state: 'EXPIRED', quota: quota(100) }, 'bad', 'Expired'],
    [{ state: 'INACTIVE', quota: quota(100) }, 'off', 'Inactive'],
    [{ state: 'DELETED' }, 'off', 'Deleted'],
  ])('of %j is %s, %s', (changes, tone, label) => {
    expect(stateOf({ ...active, ...changes }, now)).toEqual({ tone, label });
  });
});

describe('the reason of a state', () => {
  const key = (changes: object) =>
    ({
      ...active,
      definition: { expires: null, applyPolicies: ['gold'], accessRights: null, quotaRenewalRate: 10 * day },
      history: { edges: [] },
      deletedAt: null,
      ...changes,
    }) as unknown as KeyDetails;
  const renewsAt = new Date(now + 5 * day * 1000).toISOString();

  it('is absent for a key that nothing speaks against', () => {
    expect(explainState(key({}), now)).toBeUndefined();
  });

  it.each([
    [{ state: 'DELETED' }, 'This key is deleted.', ['restore']],
    [{ state: 'INACTIVE', quota: quota(100) }, 'Gateways reject this key: it is switched off.', ['activate']],
    [{ quota: quota(100) }, 'Gateways reject this key: its quota is used up.', ['limit', 'reset']],
    [{ definition: { expires: null } }, 'This key has neither access rights nor policies.', ['access']],
    [{ quota: quota(80) }, '80 % of the quota is used.', ['limit']],
  ])('of %j is "%s"', (changes, title, actions) => {
    expect(explainState(key(changes), now)).toMatchObject({ title, actions });
  });

  it('says where the pace of the period leads', () => {
    expect(explainState(key({ quota: quota(80, 100, renewsAt) }), now)?.sentence).toMatch(/used up tomorrow, before/);
    const late = new Date(now + 3600 * 1000).toISOString();
    expect(explainState(key({ quota: quota(80, 100, late) }), now)?.sentence).toContain('lasts until it renews');
  });

  it('knows a period only with its length and its end', () => {
    expect(periodOf(renewsAt, 10 * day, now)).toEqual({ start: now - 5 * day * 1000, end: now + 5 * day * 1000 });
    expect(periodOf(null, 10 * day, now)).toBeUndefined();
    expect(periodOf(renewsAt, -1, now)).toBeUndefined();
    expect(periodOf(renewsAt, day, now)).toBeUndefined();
    expect(exhaustionAt({ start: now - 1000, end: now }, 0.5, now)).toBe(now + 1000);
    expect(exhaustionAt({ start: now - 1000, end: now }, 0, now)).toBeUndefined();
  });
});
