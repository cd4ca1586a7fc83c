import { describe, expect, it } from 'vitest';
import { definitionFromJSON } from '../../../src/keys/definition/from-json.js';
import { normalizeDefinition, withSecrets } from '../../../src/keys/definition/normalize.js';
import { parseDefinition } from '../../../src/keys/definition/parse.js';
import { definitionFromWire } from '../../../src/wire/field-names.js';
import { fullUpdate } from '../../support/factories.js';

const parsed = parseDefinition('update', definitionFromWire(fullUpdate));
const full = normalizeDefinition(parsed).definition;

describe('definitionFromJSON', () => {
  it('returns 64-bit integers as bigints, at every level, and other values unchanged', () => {
    const json = {
      quotaMax: 10,
      expires: 9223372036854775807n,
      rate: 10,
      maxQueryDepth: 3,
      alias: '5',
      isInactive: false,
      tags: ['1'],
      monitor: { triggerLimits: [90, 50] },
      accessRights: [
        { label: 'a', limit: { quotaMax: -1, per: 60 } },
        { label: 'b', versions: [] },
      ],
      metaData: { quotaMax: 10, list: [1, null] },
    };
    expect(definitionFromJSON(json)).toStrictEqual({
      ...json,
      quotaMax: 10n,
      accessRights: [{ label: 'a', limit: { quotaMax: -1n, per: 60 } }, json.accessRights[1]],
    });
  });

  it('returns a definition with every field as it was stored', () => {
    const json: unknown = JSON.parse(
      JSON.stringify(full, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
    );
    expect(definitionFromJSON(json)).toStrictEqual(full);
  });

  it('keeps the order of members, for more orders than it caches', () => {
    for (let bits = 0; bits < 128; bits += 1) {
      const names = ['alias', 'certificate', 'hmacEnabled', 'isInactive', 'oauthClientID', 'per', 'rate'];
      const sent = names.filter((_, index) => (bits >> index) & 1).reverse();
      const json = Object.fromEntries(sent.map((name) => [name, name]));
      expect(Object.entries(definitionFromJSON(json))).toStrictEqual(Object.entries(json));
    }
  });

  it('returns members and values of another type unchanged, so that keys of an earlier version stay readable', () => {
    const json = { former: 1, quotaMax: 'ten', tags: 'a', monitor: null, accessRights: { a: 1 } };
    expect(definitionFromJSON(json)).toEqual(json);
  });

  it('reads integers that GraphQL returns as text', () => {
    expect(definitionFromJSON({ quotaMax: '9223372036854775807', alias: '7' })).toEqual({
      quotaMax: 9_223_372_036_854_775_807n,
      alias: '7',
    });
  });
});

describe('normalizeDefinition', () => {
  it('keeps every field that is no secret, and changes no definition in its normal form', () => {
    const { hmacString, basicAuthData, jwtData, ...others } = parsed;
    expect(full).toStrictEqual({ ...others, basicAuthData, jwtData: {} });
    expect(normalizeDefinition(full)).toStrictEqual({ definition: full, secrets: {} });
  });

  it('removes nulls outside of free-form JSON, and moves deprecated fields and secrets', () => {
    const sent = parseDefinition('update', {
      alias: null,
      applyPolicyID: ' gold ',
      basicAuthData: { user: null, password: 'x' },
      enableDetailRecording: true,
      hmacString: null,
      jwtData: null,
      lastUpdated: '17',
      metaData: { a: null },
      accessRights: [{ label: 'a', apiID: null, limit: { per: null, rate: 1 }, allowedUrls: [{ url: null }] }],
    });
    expect(normalizeDefinition(sent)).toStrictEqual({
      definition: {
        accessRights: [{ label: 'a', limit: { rate: 1 }, allowedUrls: [{}] }],
        applyPolicies: ['gold'],
        basicAuthData: {},
        enableDetailedRecording: true,
        metaData: { a: null },
      },
      secrets: { password: 'x', jwtSecret: null, hmacString: null },
    });
  });
});

describe('withSecrets', () => {
  const definition = { alias: 'a', basicAuthData: { user: 'u' } };

  it('adds the secrets that were sent, beside the members of their objects', () => {
    expect(withSecrets(definition, { password: 'p', jwtSecret: 'j', hmacString: 'h' })).toStrictEqual({
      alias: 'a',
      basicAuthData: { user: 'u', password: 'p' },
      jwtData: { secret: 'j' },
      hmacString: 'h',
    });
  });

  it('adds none that is absent or null', () => {
    expect(withSecrets(definition, {})).toStrictEqual(definition);
    expect(withSecrets(definition, { password: null, jwtSecret: null, hmacString: null })).toStrictEqual(definition);
  });
});
