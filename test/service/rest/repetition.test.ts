import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseKeyID } from '../../../src/rest/parameters.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { sendRequest } from '../../support/responses.js';
import { fullPreview, fullUpdate } from '../../support/factories.js';
import { stateOf } from '../../support/state.js';

/* PREVIEWS=10000 and KEY_IDS=1000000 are the full runs. */
const previews = Number(process.env['PREVIEWS'] ?? 500);
const keyIDs = Number(process.env['KEY_IDS'] ?? 50_000);

let folder: string;
let t: TestApp;
beforeEach(async () => {
  folder = await temporaryFolder();
  // The last uses of credentials are written once a minute, and the previews may last longer.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  t = await startOwnApp({ KEYFRONT_DATA: folder });
  await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 10, quota_renewal_rate: 3600 });
});

afterEach(() => {
  vi.useRealTimers();
});

describe(`${previews} previews, valid and invalid, in both APIs`, () => {
  it('R-11 change no byte of the database, its log or the key ring', async () => {
    const bytes = async () => {
      // Readers, credentials being read included, leave their marks in what the processes share.
      const names = (await readdir(folder)).filter((name) => !name.endsWith('-shm')).toSorted();
      const hashes = names.map(async (name) =>
        createHash('sha256')
          .update(await readFile(join(folder, name)))
          .digest('hex'),
      );
      return [names, await Promise.all(hashes)];
    };
    const before = await bytes();
    const variables = [
      { keyID: 'k1', orgID: 'acme' },
      { rate: 'x' },
      { nope: 1 },
      { basicAuthData: { password: 'p' } },
    ];
    for (let number = 0; number < previews; number += 4) {
      expect((await t.preview({ ...fullPreview, key_id: `k${number}` })).status).toBe(200);
      expect((await t.preview({ ...fullUpdate, nope: number })).status).toBe(400);
      expect((await t.preview('{"alias":')).status).toBe(400);
      const query = 'query ($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash } }';
      await t.graphql(query, { input: variables[number % variables.length] });
    }
    expect(await bytes()).toEqual(before);
  });
});

describe('an update that is sent twice because its response was lost', () => {
  const body = { alias: 'twice', quota_max: 20, quota_renewal_rate: 3600 };
  const without = async () => {
    const { key } = await stateOf(t, 'k1');
    return { definition: { ...key?.definition, lastUpdated: undefined }, quota: key?.quota };
  };

  it('R-14 leaves the key as if it was sent once: definition, quota and its end', async () => {
    await sendRequest(t, 'POST', '/svc/org/keys/k1/quota', { amount: 5 });
    expect((await t.update('k1', body, '?reset_quota=1')).status).toBe(200);
    const once = await without();
    expect((await t.update('k1', body, '?reset_quota=1')).status).toBe(200);
    expect(await without()).toEqual(once);
  });

  it('R-14 with If-Match changes nothing the second time, not even requests that were counted meanwhile', async () => {
    const ifMatch = { 'if-match': '"1"' };
    expect((await t.update('k1', body, '?reset_quota=1', ifMatch)).status).toBe(200);
    await sendRequest(t, 'POST', '/svc/org/keys/k1/quota', { amount: 5 });
    const before = await stateOf(t, 'k1');
    expect((await t.update('k1', body, '?reset_quota=1', ifMatch)).status).toBe(412);
    expect(await stateOf(t, 'k1')).toEqual(before);
  });
});

describe('key identifiers', () => {
  it(`R-02 have different hashes if they differ, ${keyIDs} of them, and are decoded exactly`, () => {
    const { hashKeyID } = t.app.services.ports;
    const alphabet = [...'abkKéе\u0301ｋ/%2.;=~\u212a'].filter((character) => character !== '/');
    const hashes = new Set<string>();
    const seen = new Set<string>();
    for (let number = 0; number < keyIDs; number += 1) {
      // Every number in base of the alphabet is another text: look-alikes, escapes that are none, one accent as two.
      let text = 'k';
      for (let rest = number; rest > 0; rest = Math.floor(rest / alphabet.length))
        text += alphabet[rest % alphabet.length];
      if (seen.has(text)) continue;
      seen.add(text);
      const keyID = parseKeyID(encodeURIComponent(text));
      expect(keyID === text).toBe(true);
      hashes.add(hashKeyID(keyID));
    }
    expect(hashes.size).toBe(seen.size);
    expect(seen.size).toBeGreaterThan(keyIDs / 2);
  });

  it.each([
    ['a dot segment in disguise', '%252e%252e', '%2e%2e'],
    ['an escape of an escape', 'k1%2500', 'k1%00'],
    ['a parameter', 'k1;x=y', 'k1;x=y'],
    ['a full-width slash', 'k1%EF%BC%8F', 'k1／'],
    ['a full-width letter', '%EF%BD%8B1', 'ｋ1'],
    ['the sign of the kelvin', '%E2%84%AA1', '\u212a1'],
    ['one accent as two characters', 'e%CC%81', 'e\u0301'],
    ['a plus', 'k1+', 'k1+'],
    ['a final dot', 'k1.', 'k1.'],
    ['a final space', 'k1%20', 'k1 '],
  ])('R-02 with %s select another key than similar ones', async (_what, encoded, keyID) => {
    const found = await sendRequest(t, 'GET', `/svc/org/keys/${encoded}`);
    expect([400, 404]).toContain(found.status);
    const made = await sendRequest(t, 'POST', `/svc/org/keys/${encoded}`, { org_id: 'acme' });
    if (made.status === 200) expect(made.body).toMatchObject({ key: keyID });
    else expect(made.status).toBe(400);
    expect((await stateOf(t, 'k1')).key?.version).toBe(1);
  });
});
