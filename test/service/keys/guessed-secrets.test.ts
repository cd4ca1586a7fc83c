import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { dataOf } from '../../support/responses.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys(
    { key_id: 'k1', org_id: 'acme', alias: 'a', hmac_string: '1234', jwt_data: { secret: '5678' } },
    { key_id: 'k2', org_id: 'acme', hmac_string: '1234' },
    { key_id: 'none', org_id: 'acme' },
  );
});

const credential = async (...scopes: ('read' | 'update')[]) => ({
  'x-svc-authorization': (await t.issue('service', { scopes })).secret,
});

interface Prediction {
  readonly changed: boolean;
  readonly version: number;
  readonly changes: { readonly path: string; readonly kind: string }[];
}

const selection = 'changed version changes { path kind before after } definition { alias lastUpdated }';

async function predict(input: object, headers: Record<string, string>, keyID = 'k1'): Promise<Prediction> {
  const query = `query ($keyID: ID!, $input: UpdateKeyInput!) { previewOrgKeyUpdate(keyID: $keyID, input: $input) { ${selection} } }`;
  return dataOf<Prediction>(await t.graphql(query, { keyID, input }, headers));
}

async function predictBulk(patch: object, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const query = `mutation ($patch: PatchKeyInput!) { updateOrgKeys(filter: { orgID: "acme" }, patch: $patch) {
    items { orgKey { keyID } change { changes { kind } } } } }`;
  const { items } = dataOf<{ items: { orgKey: { keyID: string }; change: Prediction }[] }>(
    await t.graphql(query, { patch }, headers),
  );
  return Object.fromEntries(items.map(({ orgKey, change }) => [orgKey.keyID, kinds(change)]));
}

const kinds = ({ changes }: Prediction) => changes.map(({ kind }) => kind);

describe('a dry run by a credential without the scope update', () => {
  it.each<[string, object, object]>([
    ['an HMAC secret', { alias: 'a', hmacString: '1234' }, { alias: 'a', hmacString: '0000' }],
    ['a JWT secret', { alias: 'a', jwtData: { secret: '5678' } }, { alias: 'a', jwtData: { secret: '0000' } }],
    ['a secret beside another change', { hmacString: '1234' }, { hmacString: '0000' }],
    [
      'one of two secrets',
      { alias: 'a', hmacString: '1234', jwtData: { secret: '5678' } },
      { alias: 'a', hmacString: '1234', jwtData: { secret: '0000' } },
    ],
  ])('is the same for a right and for a wrong guess of %s', async (_, right, wrong) => {
    const reader = await credential('read');
    const predicted = await predict(right, reader);
    expect(predicted).toStrictEqual(await predict(wrong, reader));
    expect(predicted).toMatchObject({ changed: true, version: 2 });
    const secrets = predicted.changes.filter(({ path }) => path !== 'alias');
    expect(new Set(secrets.map(({ kind }) => kind))).toStrictEqual(new Set(['NOT_COMPARED']));
  });

  it('reports a secret that is set first or cleared, which needs no comparison', async () => {
    const reader = await credential('read');
    expect(kinds(await predict({ hmacString: '1234' }, reader, 'none'))).toStrictEqual(['SET']);
    const cleared = await predict({ alias: 'a', hmacString: null, jwtData: { secret: null } }, reader);
    expect(kinds(cleared)).toStrictEqual(['CLEARED', 'CLEARED']);
  });

  it('reports an update that sends no secret as before', async () => {
    expect(await predict({ alias: 'a' }, await credential('read'))).toMatchObject({ changed: false, version: 1 });
    const password = { alias: 'a', basicAuthData: { password: 'p' } };
    expect(kinds(await predict(password, await credential('read')))).toStrictEqual(['ADDED', 'SET']);
  });
});

describe('a dry run by a credential with the scope update', () => {
  const right = { alias: 'a', hmacString: '1234' };
  const wrong = { alias: 'a', hmacString: '0000' };

  it('compares the secret ten times in a minute, and no more until the first of them is a minute ago', async () => {
    const writer = await credential('read', 'update');
    for (let count = 0; count < 5; count += 1) {
      expect(await predict(right, writer)).toMatchObject({ changed: false, version: 1, changes: [] });
      expect(kinds(await predict(wrong, writer))).toStrictEqual(['CHANGED']);
    }
    const uncompared = await predict(right, writer);
    expect(kinds(uncompared)).toStrictEqual(['NOT_COMPARED']);
    expect(uncompared).toStrictEqual(await predict(wrong, writer));
    t.clock.now = new Date(t.clock.now.getTime() + 60_000);
    expect(await predict(right, writer)).toMatchObject({ changed: false });
  });

  it('counts each key and each credential for itself, and a dry run of many keys as one of each', async () => {
    const writer = await credential('read', 'update');
    for (let count = 0; count < 10; count += 1) await predict(wrong, writer);
    expect(await predictBulk({ hmacString: '1234' }, writer)).toStrictEqual({
      k1: ['NOT_COMPARED'],
      k2: [],
      none: ['SET'],
    });
    expect(await predictBulk({ hmacString: '1234' })).toMatchObject({ k1: [], k2: [] });
    for (let count = 0; count < 9; count += 1) await predictBulk({ hmacString: '0000' }, writer);
    expect(await predictBulk({ hmacString: '1234' }, writer)).toMatchObject({ k2: ['NOT_COMPARED'] });
  });

  it('does not count a dry run that sends no secret, and does not limit the update itself', async () => {
    const writer = await credential('read', 'update');
    for (let count = 0; count < 11; count += 1) await predict({ alias: 'b' }, writer);
    for (let count = 0; count < 10; count += 1) expect(await predict(right, writer)).toMatchObject({ changed: false });
    const query = 'mutation ($input: UpdateKeyInput!) { updateOrgKey(keyID: "k1", input: $input) { changed version } }';
    expect(dataOf(await t.graphql(query, { input: right }, writer))).toStrictEqual({ changed: false, version: 1 });
  });
});
