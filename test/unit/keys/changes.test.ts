import { describe, expect, it } from 'vitest';
import { diffDefinitions, definitionChanges } from '../../../src/keys/key-diff.js';
import type { Definition } from '../../../src/keys/definition/normalize.js';
import type { StoredKey, StoredSecrets } from '../../../src/keys/key.js';
import { aKey } from '../../support/factories.js';

const key = (definition: Definition, secrets: Partial<StoredSecrets> = {}): StoredKey => {
  const stored = aKey(1);
  return { ...stored, definition, secrets: { ...stored.secrets, ...secrets } };
};
const paths = (before: Definition, after: Definition) =>
  definitionChanges(before, after).map(({ path, kind }) => `${path.join('.')} ${kind}`);

describe('diffDefinitions', () => {
  it('reports no removal of an object whose secret stays, as reads show the object', () => {
    const jwtSecret = new Uint8Array([1]);
    const before = key(
      { jwtData: {}, basicAuthData: { user: 'ada', hashType: 'bcrypt' } },
      { jwtSecret, passwordHash: '$2b$' },
    );
    const after = key({}, { jwtSecret, passwordHash: '$2b$' });
    expect(diffDefinitions(before, after)).toStrictEqual([
      { path: ['basicAuthData', 'user'], kind: 'REMOVED', before: 'ada' },
      { path: ['basicAuthData', 'hashType'], kind: 'REMOVED', before: 'bcrypt' },
    ]);
    expect(diffDefinitions(before, key({})).map(({ path, kind }) => `${path.join('.')} ${kind}`)).toStrictEqual([
      'jwtData REMOVED',
      'basicAuthData REMOVED',
      'basicAuthData.password CLEARED',
      'jwtData.secret CLEARED',
    ]);
  });

  it.each([
    ['jwtData', 'basicAuthData', { jwtSecret: new Uint8Array([1]) }],
    ['basicAuthData', 'jwtData', { passwordHash: '$2b$' }],
  ])('reports no addition of %s when only its secret is set', (_, added, secrets) => {
    const after = key({ jwtData: {}, basicAuthData: {} }, secrets);
    expect(diffDefinitions(key({}, secrets), after)).toStrictEqual([{ path: [added], kind: 'ADDED', after: {} }]);
  });

  it('reports the change of a member beside a secret that stays', () => {
    const [before, after] = ['ada', 'bob'].map((user) => key({ basicAuthData: { user } }, { passwordHash: '$2b$' }));
    expect(before && after && diffDefinitions(before, after)).toStrictEqual([
      { path: ['basicAuthData', 'user'], kind: 'CHANGED', before: 'ada', after: 'bob' },
    ]);
  });

  it('reports the change of a secret to one that begins with the same bytes', () => {
    const [before, after] = [[1], [1, 2]].map((bytes) => key({}, { jwtSecret: Uint8Array.from(bytes) }));
    expect(before && after && diffDefinitions(before, after)).toStrictEqual([
      { path: ['jwtData', 'secret'], kind: 'CHANGED' },
    ]);
  });
});

describe('definitionChanges', () => {
  it('returns what was added, changed and removed, with the values', () => {
    const changes = definitionChanges({ alias: 'a', rate: 1, tags: ['x'] }, { alias: 'b', tags: ['x'], per: 0 });
    expect(changes).toStrictEqual([
      { path: ['alias'], kind: 'CHANGED', before: 'a', after: 'b' },
      { path: ['per'], kind: 'ADDED', after: 0 },
      { path: ['rate'], kind: 'REMOVED', before: 1 },
    ]);
  });

  it('returns up to 100 members of an object, and the object itself beyond that', () => {
    const metaData = (count: number, value: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, value]));
    const small = definitionChanges({ metaData: metaData(100, 1) }, { metaData: metaData(100, 2) });
    expect(small).toHaveLength(100);
    expect(small[99]).toStrictEqual({ path: ['metaData', 'm99'], kind: 'CHANGED', before: 1, after: 2 });
    const [before, after] = [{ inner: metaData(101, 1) }, { inner: metaData(101, 2), other: true }];
    expect(definitionChanges({ metaData: before }, { metaData: after })).toStrictEqual([
      { path: ['metaData', 'inner'], kind: 'CHANGED', before: before.inner, after: after.inner },
      { path: ['metaData', 'other'], kind: 'ADDED', after: true },
    ]);
  });

  it('returns up to 100 members of each object, however many changes a definition has', () => {
    const members = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`m${index}`, true]));
    const before = { metaData: {}, oauthKeys: {} };
    expect(definitionChanges(before, { metaData: members, oauthKeys: members, alias: 'a' })).toHaveLength(201);
    expect(definitionChanges({ metaData: members, oauthKeys: members, alias: 'a' }, before)).toHaveLength(201);
  });

  it('returns the object itself when more than 100 members were removed', () => {
    const members = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`m${index}`, true]));
    expect(definitionChanges({ metaData: members }, { metaData: {} })).toStrictEqual([
      { path: ['metaData'], kind: 'CHANGED', before: members, after: {} },
    ]);
  });

  it('returns nothing for equal definitions', () => {
    const definition: Definition = {
      alias: '',
      tags: [],
      metaData: { a: [null, { b: 1 }] },
      isInactive: false,
      expires: 0n,
    };
    expect(definitionChanges(definition, structuredClone(definition))).toStrictEqual([]);
    expect(definitionChanges({}, {})).toStrictEqual([]);
  });

  it('distinguishes an empty value from an absent one', () => {
    expect(paths({}, { alias: '', tags: [], isInactive: false, quotaMax: 0n, smoothing: {} })).toStrictEqual([
      'alias ADDED',
      'tags ADDED',
      'isInactive ADDED',
      'quotaMax ADDED',
      'smoothing ADDED',
    ]);
  });

  it('compares objects by member, and lists as a whole', () => {
    const before: Definition = { smoothing: { step: 1, delay: 2 }, tags: ['a', 'b'], monitor: { triggerLimits: [90] } };
    const after: Definition = {
      smoothing: { step: 3, delay: 2 },
      tags: ['b', 'a'],
      monitor: { triggerLimits: [90, 50] },
    };
    expect(paths(before, after)).toStrictEqual([
      'smoothing.step CHANGED',
      'tags CHANGED',
      'monitor.triggerLimits CHANGED',
    ]);
  });

  it('names access rights by their label, at every position', () => {
    const right = (label: string, rate: number) => ({ label, limit: { rate } });
    const before: Definition = { accessRights: [right('a', 1), right('b.c', 1), right('d', 1)] };
    expect(paths(before, { accessRights: [right('d', 1), right('b.c', 2)] })).toStrictEqual([
      'accessRights.b.c.limit.rate CHANGED',
      'accessRights.a REMOVED',
    ]);
    expect(paths(before, { accessRights: [...(before.accessRights ?? [])].reverse() })).toStrictEqual([]);
    expect(definitionChanges(before, { accessRights: [right('b.c', 2)] })[0]?.path).toStrictEqual([
      'accessRights',
      'b.c',
      'limit',
      'rate',
    ]);
  });

  it.each(['toString', 'hasOwnProperty', '0', 'label', ''])('handles an entry named %j', (name) => {
    const withEntry: Definition = { accessRights: [{ label: name }], metaData: { [name]: 1 } };
    expect(paths({ accessRights: [], metaData: {} }, withEntry)).toStrictEqual([
      `accessRights.${name} ADDED`,
      `metaData.${name} ADDED`,
    ]);
    expect(paths(withEntry, withEntry)).toStrictEqual([]);
  });

  it('compares free-form JSON, where null is a value and the order of members is ignored', () => {
    expect(paths({ metaData: { a: null, b: 1 } }, { metaData: { b: 1, a: null } })).toStrictEqual([]);
    expect(definitionChanges({ metaData: { a: null } }, { metaData: { a: 1, c: null } })).toStrictEqual([
      { path: ['metaData', 'a'], kind: 'CHANGED', before: null, after: 1 },
      { path: ['metaData', 'c'], kind: 'ADDED', after: null },
    ]);
    expect(paths({ metaData: { a: [1] } }, { metaData: { a: { 0: 1 } } })).toStrictEqual(['metaData.a CHANGED']);
    expect(paths({ metaData: { a: {} } }, { metaData: { a: null } })).toStrictEqual(['metaData.a CHANGED']);
  });

  it('compares integers exactly, whether numbers or bigints', () => {
    expect(paths({ expires: 5n }, { expires: 5n })).toStrictEqual([]);
    expect(paths({ metaData: { n: 5 } }, { metaData: { n: 5n } })).toStrictEqual([]);
    expect(paths({ metaData: { n: 2 ** 53 } }, { metaData: { n: 9007199254740993n } })).toStrictEqual([
      'metaData.n CHANGED',
    ]);
    expect(definitionChanges({ expires: 9223372036854775806n }, { expires: 9223372036854775807n })).toStrictEqual([
      { path: ['expires'], kind: 'CHANGED', before: 9223372036854775806n, after: 9223372036854775807n },
    ]);
  });

  it.each([
    [9007199254740993n, '9007199254740993'],
    [1n, true],
    [1, '1'],
    [0, false],
    ['', 0n],
    ['', 0],
    [null, 0n],
  ])('distinguishes %o from %o', (before, after) => {
    expect(paths({ metaData: { n: before } }, { metaData: { n: after } })).toStrictEqual(['metaData.n CHANGED']);
    expect(paths({ metaData: { n: [after] } }, { metaData: { n: [before] } })).toStrictEqual(['metaData.n CHANGED']);
  });
});

describe('the changes between two versions of a key', () => {
  it('start with all fields of a new key', () => {
    expect(diffDefinitions(undefined, key({ alias: 'a' }, { passwordHash: 'h' }))).toStrictEqual([
      { path: ['alias'], kind: 'ADDED', after: 'a' },
      { path: ['basicAuthData', 'password'], kind: 'SET' },
    ]);
  });

  it('report secrets as set, changed or cleared, without values', () => {
    const before = { passwordHash: 'hunter2', jwtSecret: Uint8Array.of(1, 2) };
    const after = { jwtSecret: Uint8Array.of(1, 3), hmacString: Uint8Array.of(4) };
    expect(diffDefinitions(key({}, before), key({}, after))).toStrictEqual([
      { path: ['basicAuthData', 'password'], kind: 'CLEARED' },
      { path: ['hmacString'], kind: 'SET' },
      { path: ['jwtData', 'secret'], kind: 'CHANGED' },
    ]);
  });

  it('ignore secrets with equal bytes', () => {
    const secrets = () => ({ passwordHash: 'h', jwtSecret: Uint8Array.of(1), hmacString: Buffer.from([2]) });
    expect(diffDefinitions(key({}, secrets()), key({}, secrets()))).toStrictEqual([]);
  });
});
