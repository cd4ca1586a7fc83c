import Database from 'better-sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createClient,
  KeyfrontError,
  OrgKeyDocument,
  PreviewKeyDocument,
  type KeyfrontErrorCode,
} from 'keyfront/client';
import { errorCodes, type ErrorCode } from '../../../src/lib/errors.js';
import { startServer, type TestServer } from '../../support/server.js';
import { differences } from './dashboard/editable.js';
import { openKeyForm, type FormState, type KeyForm } from './dashboard/key-form.js';

let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-dashboard-'));
  server = await startServer({ KEYFRONT_DATA: folder });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

let keyID = '';
let keys = 0;
const forms: KeyForm[] = [];
beforeEach(async () => {
  keys += 1;
  keyID = `acme-form-${keys}`;
  await server.t.importKeys({
    key_id: keyID,
    org_id: 'acme',
    alias: 'Billing',
    rate: 100,
    per: 60,
    quota_max: 9223372036854775807n,
    tags: ['billing'],
    meta_data: { team: null },
    hmac_string: 'hmac-5ecret',
    access_rights: { invoices: { api_id: 'invoices', limit: { quota_max: 10, quota_renewal_rate: 60 } } },
  });
});
afterEach(() => {
  for (const form of forms.splice(0)) form.close();
});

const client = (more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ url: server.url, management: server.t.management, service: server.t.service, ...more });

async function open(more: Partial<Parameters<typeof openKeyForm>[0]> = {}): Promise<KeyForm> {
  const form = await openKeyForm({ client: client(), keyID, pauseMs: 20, ...more });
  forms.push(form);
  return form;
}

/** Waits until the form has the expected state. */
const until = (form: KeyForm, expected: Partial<FormState>) => expect.poll(form.state).toMatchObject(expected);

async function stored(): Promise<Record<string, unknown>> {
  const {
    data: { orgKey },
  } = await client().send(OrgKeyDocument, { by: { keyID } });
  return { ...orgKey?.definition, version: orgKey?.version };
}

describe('the form of a dashboard', () => {
  it('is previewed while a user types, and shows each problem at its field until it is corrected', async () => {
    const form = await open();
    form.type('rate', -5);
    form.type('accessRights', [{ label: 'invoices', limit: { quotaMax: -2 } }]);
    await until(form, {
      problems: { rate: 'must be at least -1', 'accessRights[0].limit.quotaMax': 'must be at least -1' },
    });
    form.type('rate', 5);
    form.type('accessRights', []);
    form.type('expires', 1_700_000_000);
    await until(form, { problems: {}, warnings: { expires: 'has passed already' } });
    expect(await stored()).toMatchObject({ version: 1, rate: 100 });
  });

  it('sends one request for quick typing, and ignores a response that arrives too late', async () => {
    const requested: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: typeof fetch = async (input, init) => {
      const response = await fetch(input, init && { ...init, signal: null });
      const body = String(init?.body);
      if (!body.includes('query PreviewKey(')) return response;
      requested.push(body);
      // The first response is on its way while the next request is sent and completes.
      if (requested.length === 1) await held;
      return response;
    };
    const states: FormState[] = [];
    const form = await open({ client: client({ fetch: slow }), onChange: (state) => states.push(state) });
    for (const rate of [-1, -2, -3]) form.type('rate', rate);
    await expect.poll(() => requested.length).toBe(1);
    expect(requested[0]).toContain('"rate":-3');

    form.type('rate', 7);
    form.type('perr', 1);
    await until(form, { problems: { perr: 'is an unknown field; did you mean `per`?' } });
    release();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(requested).toHaveLength(2);
    expect(states.flatMap(({ problems }) => Object.keys(problems))).not.toContain('rate');
  });

  it('shows by a dry run what a save would change, then saves exactly that', async () => {
    const form = await open();
    form.type('alias', 'Billing, renamed');
    await form.dryRun();
    const { effect } = form.state();
    expect(effect?.changes).toEqual([{ path: 'alias', kind: 'CHANGED', before: 'Billing', after: 'Billing, renamed' }]);
    expect(await stored()).toMatchObject({ version: 1, alias: 'Billing' });
    await form.save();
    expect(form.state()).toMatchObject({ version: 2, isSaved: true, problems: {}, conflict: undefined });
    // Secrets were not read, were not sent, and are still there; so are integers that JavaScript cannot hold.
    expect(await stored()).toMatchObject({
      version: 2,
      alias: 'Billing, renamed',
      hmacStringSet: true,
      quotaMax: '9223372036854775807',
      metaData: { team: null },
    });
  });

  it('keeps every digit of integers beyond 2^53 through reading, computing and saving', async () => {
    const form = await open();
    expect(form.state().fields['quotaMax']).toBe('9223372036854775807');
    form.type('quotaMax', String(BigInt(String(form.state().fields['quotaMax'])) - 1n));
    await form.save();
    expect(form.state().fields['quotaMax']).toBe('9223372036854775806');
    expect((await stored())['quotaMax']).toBe('9223372036854775806');
  });

  it('rejects an invalid value, and shows its field', async () => {
    const form = await open();
    form.type('tags', ['a', 7]);
    form.type('orgID', 'globex');
    await form.save();
    expect(form.state()).toMatchObject({ isSaved: false, version: 1 });
    expect(Object.keys(form.state().problems)).toContain('tags[1]');
  });

  it("merges the changes of others after a CONFLICT, keeps the user's changes, and saves", async () => {
    const mine = await open();
    const other = await open();
    other.type('alias', 'Theirs');
    other.type('rate', 1);
    other.type('per', 10);
    await other.save();

    mine.type('alias', 'Mine');
    mine.type('rate', 2);
    mine.type('tags', ['mine']);
    await mine.save();
    expect(mine.state().isSaved).toBe(false);
    expect(Object.keys(mine.state().problems).toSorted()).toEqual(['alias', 'per', 'rate']);
    expect(mine.state().conflict).toEqual([
      { field: 'alias', before: 'Billing', theirs: 'Theirs', mine: 'Mine', isClash: true },
      { field: 'per', before: 60, theirs: 10, mine: 60, isClash: false },
      { field: 'rate', before: 100, theirs: 1, mine: 2, isClash: true },
    ]);

    mine.resolve(['rate']);
    expect(mine.state()).toMatchObject({ version: 2, conflict: undefined, problems: {} });
    await mine.save();
    expect(mine.state().isSaved).toBe(true);
    expect(await stored()).toMatchObject({ version: 3, alias: 'Theirs', rate: 2, per: 10, tags: ['mine'] });
  });

  it('shows when to retry if storage is busy, loses nothing, and then saves', async () => {
    const form = await open();
    form.type('alias', 'Later');
    const other = new Database(join(folder, 'keyfront.db'));
    try {
      other.exec('BEGIN IMMEDIATE');
      await form.save();
      expect(form.state()).toMatchObject({
        problems: { '': 'Storage is busy.' },
        retryAfterSeconds: 1,
        isSaved: false,
        fields: { alias: 'Later' },
      });
      other.exec('ROLLBACK');
    } finally {
      other.close();
    }
    await form.save();
    expect(form.state()).toMatchObject({ isSaved: true, retryAfterSeconds: undefined, problems: {} });
    expect(await stored()).toMatchObject({ alias: 'Later', version: 2 });
  });

  it('reports invalid credentials with one message', async () => {
    await expect(open({ client: client({ service: 'nonsense' }) })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const form = await open({ client: client({ management: undefined }) });
    form.type('alias', 'x');
    await until(form, { problems: { '': 'A valid management credential is required (Authorization: Bearer).' } });
  });
});

describe('keyfront/client', () => {
  it('contains every error code of the service, and one for no response', () => {
    const known: Record<Exclude<KeyfrontErrorCode, 'UNREACHABLE'>, true> = {} as Record<ErrorCode, true>;
    const served: Record<ErrorCode, true> = known;
    expect(served).toBe(known);
    expect(Object.keys(errorCodes)).toHaveLength(9);
  });

  it('rejects with the code, the issues and the request id of an error', async () => {
    const invalid = client().send(PreviewKeyDocument, { input: { rate: -2, quotaMax: '9223372036854775808' } });
    const error = await invalid.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(KeyfrontError);
    expect(error).toMatchObject({ code: 'INVALID', requestID: expect.stringMatching(/^[\da-f-]{36}$/) });
    expect((error as KeyfrontError).issues.length).toBeGreaterThan(0);
  });

  it('calls a function for credentials that change, such as tokens of single sign-on, before each request', async () => {
    const given = ['nonsense', server.t.management];
    const changing = client({ management: async () => given.shift() ?? '' });
    const sendQuery = () => changing.send(PreviewKeyDocument, { input: { keyID: 'k' } });
    await expect(sendQuery()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await sendQuery()).data.previewKey?.keyID).toBe('k');
  });

  it.each([
    [
      'the server, too busy to look at it',
      503,
      '{"status":"error","message":"Busy.","code":"UNAVAILABLE"}',
      'UNAVAILABLE',
    ],
    ['a proxy without an upstream', 502, '<html>Bad gateway</html>', 'UNAVAILABLE'],
    ['a proxy that wants a sign-on', 401, '', 'UNAUTHENTICATED'],
    ['something else', 200, '"hello"', 'INTERNAL'],
  ])('throws an error for a response with %s', async (_, status, body, code) => {
    const responding: typeof fetch = async () => new Response(body, { status, headers: { 'retry-after': '3' } });
    const requested = client({ fetch: responding }).send(PreviewKeyDocument, { input: {} });
    await expect(requested).rejects.toMatchObject({ name: 'KeyfrontError', code, retryAfterSeconds: 3 });
  });

  it('sends credentials to the service only: no cookies, and none that it does not have', async () => {
    let sent: RequestInit | undefined;
    const looking: typeof fetch = async (input, init) => {
      sent = init;
      return fetch(input, init);
    };
    const bare = createClient({ url: `${server.url}/`, fetch: looking });
    await expect(bare.send(PreviewKeyDocument, { input: {} })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(sent?.credentials).toBe('omit');
    expect(Object.keys(sent?.headers ?? {})).toEqual(['content-type', 'accept']);
  });
});

describe('the differences of a form', () => {
  it('are the changes of others, with a conflict only if both changed a field to different values', () => {
    const before = { a: 1, b: 1, c: 1, d: 1 };
    expect(differences(before, { a: 2, b: 2, c: 2 }, { a: 1, b: 3, c: 2, d: 5 })).toEqual([
      { field: 'a', before: 1, theirs: 2, mine: 1, isClash: false },
      { field: 'b', before: 1, theirs: 2, mine: 3, isClash: true },
      { field: 'c', before: 1, theirs: 2, mine: 2, isClash: false },
      { field: 'd', before: 1, theirs: undefined, mine: 5, isClash: true },
    ]);
  });
});
