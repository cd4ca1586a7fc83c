import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inUTC, normalizeDefinition } from '../../../src/keys/definition/normalize.js';
import { parseDefinition } from '../../../src/keys/definition/parse.js';
import { stringifyJSON } from '../../../src/lib/json.js';
import { definitionFromWire } from '../../../src/wire/field-names.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';
import { fullPreview, fullUpdate } from '../../support/factories.js';

const normal = (wire: object) => normalizeDefinition(parseDefinition('update', definitionFromWire(wire))).definition;

describe('the normal form', () => {
  it.each<[string, object, object]>([
    [
      'trims tags and drops repetitions, in the order given',
      { tags: [' b', 'a', 'b ', 'a', 'A'] },
      { tags: ['b', 'a', 'A'] },
    ],
    ['trims policies and drops repetitions', { apply_policies: ['p2 ', 'p1', ' p2'] }, { applyPolicies: ['p2', 'p1'] }],
    ['keeps an empty list', { tags: [], apply_policies: [] }, { tags: [], applyPolicies: [] }],
    [
      'drops apply_policy_id beside other policies, because it would grant the rights of a further one',
      { apply_policies: ['silver'], apply_policy_id: 'gold' },
      { applyPolicies: ['silver'] },
    ],
    [
      'moves apply_policy_id into apply_policies that are empty',
      { apply_policies: [], apply_policy_id: 'b' },
      { applyPolicies: ['b'] },
    ],
    [
      'moves apply_policy_id into apply_policies that are null',
      { apply_policies: null, apply_policy_id: 'b' },
      { applyPolicies: ['b'] },
    ],
    ['moves apply_policy_id where there are no apply_policies', { apply_policy_id: ' b ' }, { applyPolicies: ['b'] }],
    [
      'keeps the order of policies whose last one is apply_policy_id too',
      { apply_policies: ['b', 'a'], apply_policy_id: 'b' },
      { applyPolicies: ['b', 'a'] },
    ],
    [
      'drops empty texts of an owner, of secrets, of their hash type and of a date',
      { org_id: '', hmac_string: '', last_updated: '', jwt_data: { secret: '' }, basic_auth_data: { hash_type: '' } },
      { basicAuthData: {}, jwtData: {} },
    ],
    [
      'trims long lists and drops repetitions',
      { tags: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ' i', ' a ', 'i '], apply_policies: [...'123456789', ' 9'] },
      {
        tags: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'],
        applyPolicies: [...'123456789'],
      },
    ],
    ['drops an apply_policy_id of spaces only', { apply_policy_id: '  ' }, {}],
    ['moves enable_detail_recording', { enable_detail_recording: false }, { enableDetailedRecording: false }],
    [
      'keeps enable_detailed_recording beside the same of the deprecated one',
      { enable_detailed_recording: true, enable_detail_recording: true },
      { enableDetailedRecording: true },
    ],
    [
      'moves enable_detail_recording where its successor is null',
      { enable_detailed_recording: null, enable_detail_recording: true },
      { enableDetailedRecording: true },
    ],
    ['drops null', { alias: null, rate: null, tags: null, monitor: null, org_id: null }, {}],
    [
      'drops null inside objects and entries',
      { monitor: { trigger_limits: null }, access_rights: { gone: null, a: { api_id: null, limit: { rate: null } } } },
      { monitor: {}, accessRights: [{ label: 'a', limit: {} }] },
    ],
    [
      'keeps null inside what is free in form',
      { meta_data: { a: null, b: [null] } },
      { metaData: { a: null, b: [null] } },
    ],
    ['drops server-owned fields', { date_created: '2020-01-01T00:00:00Z', last_updated: '17' }, {}],
    [
      'writes methods in upper case, once each',
      { access_rights: { a: { allowed_urls: [{ methods: ['get', ' POST ', 'Get', 'post'], url: '/x' }] } } },
      { accessRights: [{ label: 'a', allowedUrls: [{ methods: ['GET', 'POST'], url: '/x' }] }] },
    ],
    [
      'leaves urls as they are',
      { access_rights: { a: { allowed_urls: [{ url: ' /(x ' }] } } },
      { accessRights: [{ label: 'a', allowedUrls: [{ url: ' /(x ' }] }] },
    ],
    ['leaves texts as they are', { alias: ' a ', org_id: ' acme' }, { alias: ' a ', orgID: ' acme' }],
    [
      'makes an integer of an integral float',
      { expires: 1.893456e9, max_query_depth: 5.0 },
      { expires: 1893456000n, maxQueryDepth: 5 },
    ],
    ['knows no minus zero', { rate: -0, per: -0, expires: -0 }, { rate: 0, per: 0, expires: 0n }],
    [
      'has no secrets in it',
      { basic_auth_data: { password: 'x', user: 'u' }, jwt_data: { secret: 'y' }, hmac_string: 'z' },
      { basicAuthData: { user: 'u' }, jwtData: {} },
    ],
  ])('%s', (_promise, wire, expected) => {
    expect(normal(wire)).toStrictEqual(expected);
  });

  it('has the members of every object in the order of the document', () => {
    const wire = {
      tags: ['a'],
      smoothing: { trigger: 1, threshold: 1, step: 1, enabled: true, delay: 1 },
      access_rights: { a: { limit: { throttle_retry_limit: 1, per: 1 }, api_name: 'n', api_id: 'a' } },
      alias: 'x',
    };
    const definition = normal(wire);
    expect(Object.keys(definition)).toStrictEqual(['accessRights', 'alias', 'smoothing', 'tags']);
    expect(Object.keys(definition.smoothing ?? {})).toStrictEqual(['delay', 'enabled', 'step', 'threshold', 'trigger']);
    expect(Object.keys(definition.accessRights?.[0] ?? {})).toStrictEqual(['label', 'apiID', 'apiName', 'limit']);
    expect(Object.keys(definition.accessRights?.[0]?.limit ?? {})).toStrictEqual(['per', 'throttleRetryLimit']);
  });

  it('is idempotent', () => {
    const messy = {
      ...fullUpdate,
      tags: [' b', 'a', 'b '],
      apply_policy_id: ' x ',
      enable_detail_recording: true,
      date_created: '2020-01-01T00:00:00+05:30',
      access_rights: { a: { allowed_urls: [{ methods: ['get', 'GET '], url: '/' }] } },
    };
    for (const wire of [messy, fullUpdate, {}]) {
      const once = normal(wire);
      expect(normalizeDefinition(once).definition).toStrictEqual(once);
      expect(stringifyJSON(normalizeDefinition(once).definition)).toBe(stringifyJSON(once));
    }
  });
});

describe('a date of a definition', () => {
  it.each([
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z'],
    ['2026-01-31T12:00:00+00:00', '2026-01-31T12:00:00Z'],
    ['2026-01-31T12:00:00+05:30', '2026-01-31T06:30:00Z'],
    ['2026-01-31T23:30:00-01:00', '2026-02-01T00:30:00Z'],
    ['2026-01-31T12:00:00.5-00:00', '2026-01-31T12:00:00.5Z'],
    ['2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00.123456789Z'],
    ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ])('normalizes %s to %s in UTC, with the given digits', (given, utc) => {
    expect(inUTC(given)).toBe(utc);
    expect(inUTC(utc)).toBe(utc);
  });

  const rejected = [
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-01-31 12:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:00:00+25:00',
    '20260131T120000Z',
    'Sat, 31 Jan 2026 12:00:00 GMT',
    '1769860800',
    '',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
  ];
  const taken = ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+02:00', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z'];

  let t: TestApp;
  beforeAll(async () => {
    t = await startApp();
  });
  afterAll(async () => t.close());

  it.each(rejected)('rejects %j', async (text) => {
    const { status, body } = await t.preview({ date_created: text });
    expect(status).toBe(400);
    expect(body['issues']).toMatchObject([{ path: 'date_created', code: 'MALFORMED_DATE' }]);
  });

  it.each(taken)('accepts %j, and keeps it a date in UTC', async (text) => {
    for (const date of [text, inUTC(text)]) {
      const { body } = await t.preview({ date_created: date, apply_policies: ['gold'] });
      expect(body).toMatchObject({ warnings: [{ code: 'SERVER_OWNED' }] });
    }
  });
});

describe('previewKey', () => {
  it('returns the same for its own response', async () => {
    const t = await startOwnApp();
    const first = await t.preview({ ...fullPreview, tags: [' a', 'a'], apply_policy_id: 'x' });
    const second = await t.preview(first.body['data']);
    expect(second.body).toStrictEqual({
      api_model: {},
      data: first.body['data'],
      key_hash: first.body['key_hash'],
      key_id: first.body['key_id'],
    });
  });

  it('returns the definition that an update then stores', async () => {
    const t = await startOwnApp();
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const { enable_http_signature_validation, rsa_certificate_id, ...shared } = fullUpdate;
    const definition = { ...shared, tags: [' a', 'a'], expires: 1 };
    const previewed = await t.preview(definition);
    const updated = await t.update('k1', definition);
    expect(updated.body['warnings']).toStrictEqual(previewed.body['warnings']);
    const stored = await t.app.services.store.find(String(updated.body['key_hash']));
    const { org_id, hmac_string, ...shown } = previewed.body['data'] as Record<string, unknown>;
    expect(stored?.definition).toStrictEqual(normal(shown));
  });
});
