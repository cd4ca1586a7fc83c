import { describe, expect, it } from 'vitest';
import { patchedDefinition, pathWithLabel } from '../../../src/keys/definition/patch.js';
import { AppError } from '../../../src/lib/errors.js';
import { parseJSON } from '../../../src/lib/json.js';

const stored = {
  alias: 'one',
  rate: 5,
  tags: ['a', 'b'],
  basicAuthData: { user: 'u', hashType: 'argon2id' },
  monitor: { triggerLimits: [90, 50] },
  accessRights: [
    { label: 'invoices', apiID: 'invoices', limit: { rate: 5, quotaMax: 7n }, versions: ['Default'] },
    { label: 'payments', apiID: 'payments' },
  ],
  metaData: { team: { name: 'a', size: 3n }, list: [1, 2], note: 'x' },
};
const [invoices, payments] = stored.accessRights;

describe('a patch', () => {
  it.each<[string, object, object]>([
    ['changes nothing if it is empty', {}, {}],
    [
      'keeps absent fields, and sets, replaces and clears others',
      { rate: 9, tags: ['c'], alias: null, per: 1 },
      {
        rate: 9,
        tags: ['c'],
        alias: null,
        per: 1,
      },
    ],
    [
      'keeps the absent members of an object',
      { basicAuthData: { user: 'v' } },
      {
        basicAuthData: { user: 'v', hashType: 'argon2id' },
      },
    ],
    [
      'clears an object, and a member of one',
      { basicAuthData: null, monitor: { triggerLimits: null } },
      {
        basicAuthData: null,
        monitor: { triggerLimits: null },
      },
    ],
    ['adds an object', { jwtData: { secret: 's' } }, { jwtData: { secret: 's' } }],
    [
      'merges free-form JSON, in which null removes a member',
      { metaData: { team: { size: null, lead: 'b' }, note: null } },
      {
        metaData: { team: { name: 'a', lead: 'b' }, list: [1, 2] },
      },
    ],
    [
      'removes the nulls of free-form JSON that it adds',
      { oauthKeys: { a: { b: null, c: 1 } } },
      {
        oauthKeys: { a: { c: 1 } },
      },
    ],
    ['replaces free-form JSON by an object, or clears it', { metaData: null }, { metaData: null }],
    [
      'patches the listed access rights, and removes the others',
      { accessRights: [{ label: 'invoices', limit: { rate: 6 } }] },
      {
        accessRights: [{ ...invoices, limit: { rate: 6, quotaMax: 7n } }],
      },
    ],
    [
      'adds, patches and removes access rights by label',
      { accessRights: { payments: null, new: { apiID: 'n' }, invoices: { limit: null } } },
      {
        accessRights: [
          { ...invoices, limit: null },
          { label: 'new', apiID: 'n' },
        ],
      },
    ],
    [
      'keeps the access rights that an object of labels does not name',
      { accessRights: { payments: {} } },
      {
        accessRights: [invoices, payments],
      },
    ],
  ])('%s', (_, patch, changed) => {
    expect(patchedDefinition(stored, { ...patch })).toEqual({ ...stored, ...changed });
  });

  it('keeps a member of free-form JSON with any name', () => {
    const patch = parseJSON('{"metaData":{"constructor2":{"a":1}}}') as { metaData: object };
    expect(patchedDefinition({}, patch)).toEqual(patch);
    const prototype = parseJSON('{"metaData":{"__proto__":{"a":1}}}') as { metaData: object };
    expect(() => patchedDefinition({}, prototype)).toThrow(AppError);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it.each<[object, string[], object?]>([
    [{ rate: -5 }, ['rate OUT_OF_RANGE']],
    [{ unknown: 1 }, ['unknown UNKNOWN_FIELD']],
    [{ accessRights: { invoices: { limit: { rate: -5 } } } }, ['accessRights,invoices,limit,rate OUT_OF_RANGE']],
    [{ accessRights: { new: { nothing: 1 } } }, ['accessRights,new,nothing UNKNOWN_FIELD']],
    [{ accessRights: false }, ['accessRights WRONG_TYPE']],
    [{ accessRights: { new: 5 } }, ['accessRights,2 WRONG_TYPE']],
    [{ accessRights: [{ label: 'a' }, { label: 'a' }] }, ['accessRights,a,label DUPLICATE_LABEL']],
    [
      { smoothing: { step: -1 } },
      ['smoothing,step INCOMPLETE_SMOOTHING'],
      { smoothing: { enabled: true, delay: 1, step: 1, threshold: 1, trigger: 0.5 } },
    ],
  ])('%j is rejected as %j', (patch, issues, base = stored) => {
    try {
      patchedDefinition(base, { ...patch });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect(error.issues.map(({ path, code }) => `${path.join()} ${code}`)).toEqual(issues);
    }
  });
});

it('a path has the label of an access right instead of its index', () => {
  expect(pathWithLabel(['accessRights', 1, 'apiID'], stored)).toEqual(['accessRights', 'payments', 'apiID']);
  expect(pathWithLabel(['accessRights', 9], stored)).toEqual(['accessRights', 9]);
  expect(pathWithLabel(['tags', 1], stored)).toEqual(['tags', 1]);
});
