import { beforeEach, describe, expect, it } from 'vitest';
import { parseOrgIDOption } from '../../../src/cli/input.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { sendRequest } from '../../support/responses.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const bad = {
  'a slash': 'a/b',
  'a backslash': '\\',
  'a format character': 'x\u202ey',
  'a line break': 'new\nline',
  'more than 214 bytes': 'o'.repeat(215),
  'more than 214 bytes of other scripts': '日'.repeat(72),
};
const rejected = { code: 'INVALID', issues: [{ path: 'org_id', code: 'MALFORMED_ORG_ID' }] };

describe.each(Object.entries(bad))('an organization with %s', (_, orgID) => {
  it('is rejected by a preview', async () => {
    expect((await t.preview({ org_id: orgID })).body).toMatchObject(rejected);
  });

  it('is rejected for a new key and in an update', async () => {
    expect((await sendRequest(t, 'POST', '/svc/org/keys/new', { org_id: orgID })).body).toMatchObject(rejected);
    await t.importKeys({ key_id: 'k', org_id: 'acme' });
    expect((await t.update('k', { org_id: orgID })).body).toMatchObject(rejected);
  });

  it('is rejected by an import', async () => {
    await expect(t.importKeys({ key_id: 'k', org_id: orgID })).rejects.toThrow('org_id must');
  });

  it('is rejected for a credential and by --org', async () => {
    await expect(t.issue('service', { orgID })).rejects.toThrow('organization');
    expect(() => parseOrgIDOption(orgID)).toThrow('--org must');
  });
});

describe('an organization of 214 bytes', () => {
  it('leads to an identifier that creating a key accepts', async () => {
    const orgID = 'ö'.repeat(107);
    const { body } = await t.preview({ org_id: orgID });
    const { key_id: keyID } = body as { key_id: string };
    expect((await t.preview({ key_id: keyID })).status).toBe(200);
    const created = await sendRequest(t, 'POST', `/svc/org/keys/${encodeURIComponent(keyID)}`, { org_id: orgID });
    expect(created.status).toBe(200);
  });
});

describe('a blank organization', () => {
  it('is none in a preview, whose generated identifier begins with no owner', async () => {
    const { body } = await t.preview({ org_id: ' ' });
    expect(body).toMatchObject({ key_id: expect.stringMatching(/^[0-9a-f]{40}$/) as string });
  });
});
