import { describe, expect, it } from 'vitest';
import { prepareLine } from '../../../src/cli/keys/import-lines.js';
import { warningCodes } from '../../../src/keys/definition/issue-codes.js';
import { pathText } from '../../../src/lib/errors.js';
import { parseJSON, stringifyJSON } from '../../../src/lib/json.js';
import { startSharedApp } from '../../support/app.js';
import { fullPreview } from '../../support/factories.js';

// The clock of the tests stands here.
const now = Date.parse('2026-01-31T12:00:00Z') / 1000;

// Without access rights, a definition has a warning of its own.
const access_rights = { api: {} };

const written: [string, object, string[]][] = [
  ['a definition without a flaw', fullPreview, []],
  ['an empty definition', { access_rights: null }, ['access_rights NO_ACCESS_RIGHTS']],
  ['access rights without an entry', { access_rights: { gone: null } }, ['access_rights NO_ACCESS_RIGHTS']],
  ['a policy in place of access rights', { access_rights: {}, apply_policies: ['gold'] }, []],
  [
    'a deprecated policy in place of access rights',
    { access_rights: {}, apply_policy_id: 'gold' },
    ['apply_policy_id DEPRECATED_FIELD'],
  ],
  ['an inactive key', { is_inactive: true }, []],
  [
    'an inactive key with a policy',
    { is_inactive: true, apply_policies: ['gold'] },
    ['is_inactive INACTIVE_WITH_POLICIES'],
  ],
  [
    'empty texts, which are absent',
    { org_id: '', hmac_string: '', jwt_data: { secret: '' }, basic_auth_data: { password: '', hash_type: '' } },
    [],
  ],
  ['an empty last_updated, which is absent', { last_updated: '' }, []],
  ['apply_policy_id', { apply_policy_id: 'x' }, ['apply_policy_id DEPRECATED_FIELD']],
  ['date_created', { date_created: '2020-01-01T00:00:00Z' }, ['date_created SERVER_OWNED']],
  ['last_updated', { last_updated: '17' }, ['last_updated SERVER_OWNED']],
  ['fields that are null', { apply_policy_id: null, date_created: null, last_updated: null, expires: null }, []],
  ['an expiry that has passed', { expires: now - 1 }, ['expires EXPIRES_IN_PAST']],
  ['an expiry now', { expires: now }, ['expires EXPIRES_IN_PAST']],
  ['an expiry at the first second', { expires: 1 }, ['expires EXPIRES_IN_PAST']],
  ['an expiry in the next second', { expires: now + 1 }, []],
  ['no expiry, written as 0', { expires: 0 }, []],
  ['no expiry, written as -1', { expires: -1 }, []],
  ['an expiry in milliseconds', { expires: now * 1000 }, ['expires EXPIRES_IN_MILLISECONDS']],
  ['the first expiry that is read as milliseconds', { expires: 100_000_000_000 }, ['expires EXPIRES_IN_MILLISECONDS']],
  ['the last expiry that is read as seconds', { expires: 99_999_999_999 }, []],
  ['a rate and a period of 0', { rate: 1, per: 0 }, ['per LIMIT_OFF']],
  ['a rate and a period of -1', { rate: 1, per: -1 }, ['per LIMIT_OFF']],
  ['a rate without a period', { rate: 1 }, ['per RATE_WITHOUT_PER']],
  ['a rate with a period of null', { rate: 1, per: null }, ['per RATE_WITHOUT_PER']],
  ['a period without a rate', { per: 60 }, ['rate PER_WITHOUT_RATE']],
  ['a period of 0 without a rate', { per: 0 }, []],
  ['an unlimited rate without a period', { rate: -1 }, []],
  ['a rate of 0 and a period of 0', { rate: 0, per: 0 }, []],
  ['an unlimited rate and a period of 0', { rate: -1, per: 0 }, []],
  ['a rate that is no integer', { rate: 0.1, per: 0 }, ['per LIMIT_OFF']],
  [
    'a path without methods',
    { access_rights: { api: { allowed_urls: [{ url: '/a' }] } } },
    ['access_rights.api.allowed_urls[0].methods URL_ALLOWS_NOTHING'],
  ],
  ['a quota without a period', { quota_max: 1 }, ['quota_renewal_rate QUOTA_NEVER_RENEWS']],
  ['a quota with a period of 0', { quota_max: 1, quota_renewal_rate: 0 }, ['quota_renewal_rate QUOTA_NEVER_RENEWS']],
  ['a quota with a period of -1', { quota_max: 1, quota_renewal_rate: -1 }, ['quota_renewal_rate QUOTA_NEVER_RENEWS']],
  ['a quota of 0', { quota_max: 0 }, []],
  ['an unlimited quota', { quota_max: -1, quota_remaining: 5 }, []],
  [
    'more remaining than there is',
    { quota_max: 1, quota_remaining: 2, quota_renewal_rate: 1 },
    ['quota_remaining REMAINING_ABOVE_MAXIMUM'],
  ],
  ['all remaining', { quota_max: 1, quota_remaining: 1, quota_renewal_rate: 1 }, []],
  ['a label other than the API', { access_rights: { a: { api_id: 'b' } } }, ['access_rights.a.api_id LABEL_MISMATCH']],
  [
    'a label other than the API in case only',
    { access_rights: { a: { api_id: 'A' } } },
    ['access_rights.a.api_id LABEL_MISMATCH'],
  ],
  ['a label without an API', { access_rights: { a: {} } }, []],
  [
    'limits of one API',
    { access_rights: { ok: {}, 'b.c': { limit: { rate: 1, per: 0, quota_max: 1, quota_remaining: 2 } } } },
    [
      'access_rights["b.c"].limit.per LIMIT_OFF',
      'access_rights["b.c"].limit.quota_remaining REMAINING_ABOVE_MAXIMUM',
      'access_rights["b.c"].limit.quota_renewal_rate QUOTA_NEVER_RENEWS',
    ],
  ],
  [
    'trigger limits that rise',
    { monitor: { trigger_limits: [50, 90] } },
    ['monitor.trigger_limits TRIGGERS_NOT_DESCENDING'],
  ],
  [
    'trigger limits that repeat',
    { monitor: { trigger_limits: [90, 90] } },
    ['monitor.trigger_limits TRIGGERS_NOT_DESCENDING'],
  ],
  ['trigger limits that descend', { monitor: { trigger_limits: [100, 90.5, 0.1] } }, []],
  ['one trigger limit', { monitor: { trigger_limits: [1] } }, []],
  [
    'several things at once',
    { apply_policy_id: 'x', expires: 1, rate: 1, per: 0, quota_max: 5, monitor: { trigger_limits: [1, 2] } },
    [
      'apply_policy_id DEPRECATED_FIELD',
      'expires EXPIRES_IN_PAST',
      'monitor.trigger_limits TRIGGERS_NOT_DESCENDING',
      'per LIMIT_OFF',
      'quota_renewal_rate QUOTA_NEVER_RENEWS',
    ],
  ],
];

const cases = written.map(([name, definition, expected]) => ({
  name,
  definition: 'access_rights' in definition ? definition : { access_rights, ...definition },
  expected,
}));

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme' });

const found = (body: Record<string, unknown>) =>
  ((body['warnings'] ?? []) as { path: string; code: string; message: string }[])
    .map(({ path, code, message }) => `${path} ${message === '' ? 'without a message' : code}`)
    .sort();

describe('warnings', () => {
  it.each(cases)('are returned for $name', async ({ definition, expected }) => {
    const previewed = await t.preview(definition);
    expect(previewed.status).toBe(200);
    expect(found(previewed.body)).toStrictEqual(expected);
  });

  const updates = cases.filter(({ definition }) => definition !== fullPreview);

  it.each(updates)('are the same for an update and a preview, for $name', async ({ definition, expected }) => {
    const updated = await t.update('k1', definition);
    expect(updated.status).toBe(200);
    expect(found(updated.body)).toStrictEqual(expected);
  });

  it.each(updates)('are the same for an import, which keeps dates, for $name', async ({ definition, expected }) => {
    const line = parseJSON(stringifyJSON({ ...definition, key_id: 'new' }));
    const { warnings } = await prepareLine(t.app.services.ports, line, { orgID: 'acme', passwordsAreHashed: false });
    const listed = warnings.map(({ path, ...rest }) => ({ path: pathText(path), ...rest }));
    expect(found({ warnings: listed })).toStrictEqual(expected.filter((warning) => !warning.endsWith('SERVER_OWNED')));
  });

  it('are returned for enable_detail_recording, which only an update has', async () => {
    expect(found((await t.update('k1', { access_rights, enable_detail_recording: true })).body)).toStrictEqual([
      'enable_detail_recording DEPRECATED_FIELD',
    ]);
  });

  it('R-12 cover every warning code', () => {
    const seen = cases.flatMap(({ expected }) => expected.map((warning) => warning.split(' ')[1]));
    // The others need imported policies: see policies.test.ts.
    const ofPolicies = ['UNKNOWN_POLICY', 'OVERRIDDEN_BY_POLICIES'];
    expect(new Set([...seen, ...ofPolicies])).toStrictEqual(new Set(Object.keys(warningCodes)));
  });

  it('depend on the current time and not on the start of the process', async () => {
    const definition = { access_rights, expires: now + 60 };
    expect(found((await t.preview(definition)).body)).toStrictEqual([]);
    t.clock.now = new Date((now + 60) * 1000);
    expect(found((await t.preview(definition)).body)).toStrictEqual(['expires EXPIRES_IN_PAST']);
    t.clock.now = new Date(now * 1000);
  });
});
