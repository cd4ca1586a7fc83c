import { beforeEach, describe, expect, it } from 'vitest';
import { scopes, type Scope } from '../../../src/keys/key.js';
import { eventTypes as knownTypes } from '../../../src/webhooks/event.js';
import { maxTestsAtOnce } from '../../../src/webhooks/test-slots.js';
import { maxWebhooksOfOrganization } from '../../../src/webhooks/webhook-service.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, sqlite } from '../../support/engines.js';
import { serveWith } from '../../support/overridden-server.js';
import { startOwnReceiver, verificationErrorOf, type Receiver } from '../../support/receiver.js';
import { codeOf, dataOf, errorsOf, issuesOf } from '../../support/responses.js';
import { until } from '../../support/until.js';
import { giveUp, hookTo, quick, untilPolled } from '../../support/webhooks.js';

interface Hook {
  readonly id: string;
  readonly orgID: string | null;
  readonly eventTypes: readonly string[] | null;
  readonly receiver: string | null;
  readonly pausedAt: string | null;
}

interface Added {
  readonly webhook: Hook;
  readonly secret: string | null;
}

interface Changed {
  readonly webhook: Hook;
  readonly isReleased: boolean;
}

interface Page<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly damagedIDs?: readonly string[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A path that must be nowhere. */
const canary = 'T0KEN-canary';
const fields = '{ id label orgID eventTypes receiver createdAt pausedAt pausedReason failingKeys deadLetterCount }';

let t: TestApp;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startOwnReceiver();
  t = await startOwnApp({}, { dispatcherOptions: quick });
});

type Headers = Readonly<Record<string, string>>;

const as = (secret: string): Headers => ({ 'x-svc-authorization': secret });
const caller = async (named?: readonly Scope[], orgID?: string) => {
  const { id, secret } = await t.issue('service', {
    label: 'administrator',
    ...(named && { scopes: named }),
    ...(orgID !== undefined && { orgID }),
  });
  return { id, secret, headers: as(secret) };
};
const mutate = (call: string, headers?: Headers) => t.graphql(`mutation { ${call} }`, {}, headers);
const add = (variables: object, headers?: Headers) =>
  t.graphql(
    `mutation ($url: String!, $label: String, $orgID: String, $eventTypes: [String!], $idempotencyKey: String) {
      addKeyWebhook(url: $url, label: $label, orgID: $orgID, eventTypes: $eventTypes, idempotencyKey: $idempotencyKey) { webhook ${fields} secret }
    }`,
    variables,
    headers,
  );
const addTo = async (variables: object = {}, headers?: Headers) =>
  dataOf<Added>(await add({ url: receiver.url, ...variables }, headers));
const list = (args = '', headers?: Headers) =>
  t.graphql(
    `{ keyWebhooks${args} { edges { node ${fields} } damagedIDs pageInfo { hasNextPage endCursor } } }`,
    {},
    headers,
  );
const idsOf = ({ edges }: Page<{ id: string }>) => edges.map(({ node }) => node.id);
const stored = () => t.app.services.webhooks.list();
const changes = ['pauseKeyWebhook', 'resumeKeyWebhook', 'rotateKeyWebhook', 'testKeyWebhook'] as const;
const callsFor = (id: string) => [
  ...changes.map((name) => `${name}(id: "${id}") { webhook { id } }`),
  `removeKeyWebhook(id: "${id}") { id }`,
  `replayKeyWebhookDeadLetters(id: "${id}") { count }`,
  `discardKeyWebhookDeadLetters(id: "${id}") { count }`,
];
const testOf = (id: string) => `testKeyWebhook(id: "${id}") { isDelivered status failure }`;

describe('an administrator', () => {
  it('adds a webhook, whose secret is shown once and signs', async () => {
    const url = `${receiver.url}/${canary}?token=${canary}`;
    const { webhook, secret } = await addTo({ url, label: 'billing', orgID: 'acme', eventTypes: ['orgKey.created'] });
    expect(webhook).toMatchObject({
      label: 'billing',
      orgID: 'acme',
      eventTypes: ['orgKey.created'],
      receiver: `http://127.0.0.1:${receiver.port}/…?…`,
      pausedAt: null,
      failingKeys: 0,
      deadLetterCount: 0,
    });
    await t.importKeys({ key_id: 'imported', org_id: 'acme' });
    dataOf(await mutate('createOrgKey(keyID: "made", input: { orgID: "acme" }) { version }'));
    await receiver.until((taken) => taken.length === 1);
    const [message] = receiver.accepted();
    expect(message?.type).toBe('orgKey.created');
    const tested = dataOf(await mutate(testOf(webhook.id)));
    expect(tested).toStrictEqual({ isDelivered: true, status: 204, failure: null });
    const ping = receiver.received.at(-1);
    expect(ping?.type).toBe('webhook.ping');
    expect(ping && verificationErrorOf(secret ?? '', ping)).toBeUndefined();
    for (const response of [await list(), await t.graphql(`{ keyWebhook(id: "${webhook.id}") ${fields} }`)]) {
      expect(response.text).toContain(webhook.id);
      for (const hidden of [secret ?? '', canary]) expect(response.text).not.toContain(hidden);
    }
  });

  it('pauses and resumes a webhook, and nothing is sent meanwhile', async () => {
    const { webhook } = await addTo();
    await untilPolled(t);
    const paused = dataOf<Changed>(
      await mutate(`pauseKeyWebhook(id: "${webhook.id}") { webhook ${fields} changed isReleased }`),
    );
    expect(paused).toMatchObject({ webhook: { pausedReason: 'by the API' }, changed: true, isReleased: true });
    const first = paused.webhook.pausedAt;
    t.clock.now = new Date(t.clock.now.getTime() + 1_000);
    const again = dataOf<Changed>(
      await mutate(`pauseKeyWebhook(id: "${webhook.id}") { webhook ${fields} changed isReleased }`),
    );
    expect(again).toMatchObject({ webhook: { pausedAt: first }, changed: false });
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await untilPolled(t);
    expect(receiver.received).toHaveLength(0);
    const resumed = dataOf<Changed>(
      await mutate(`resumeKeyWebhook(id: "${webhook.id}") { webhook ${fields} changed isReleased }`),
    );
    expect(resumed).toMatchObject({ webhook: { pausedAt: null, pausedReason: null }, changed: true, isReleased: true });
    await receiver.until((taken) => taken.length === 1);
  });

  it('replaces the secret of a webhook, with an overlap or none', async () => {
    const { webhook, secret: first } = await addTo();
    const rotate = async (hours: number) =>
      dataOf<{ secret: string; isReleased: boolean; webhook: { oldSecretUntil: string | null } }>(
        await mutate(
          `rotateKeyWebhook(id: "${webhook.id}", overlapHours: ${hours}) { secret isReleased webhook { oldSecretUntil } }`,
        ),
      );
    const second = await rotate(2);
    expect(second).toMatchObject({ isReleased: true, webhook: { oldSecretUntil: '2026-01-31T14:00:00.000Z' } });
    const third = await rotate(0);
    expect(third.webhook.oldSecretUntil).toBeNull();
    await t.importKeys({ key_id: 'a', org_id: 'acme' });
    await receiver.until((taken) => taken.length === 1);
    const [message] = receiver.accepted();
    const isSignedBy = (secret: string | null) => message && verificationErrorOf(secret ?? '', message) === undefined;
    expect([first, second.secret, third.secret].map(isSignedBy)).toStrictEqual([false, false, true]);
  });

  it('removes a webhook with its dead letters', async () => {
    const { webhook } = await addTo();
    const removed = dataOf(await mutate(`removeKeyWebhook(id: "${webhook.id}") { id isReleased }`));
    expect(removed).toStrictEqual({ id: webhook.id, isReleased: true });
    for (const call of callsFor(webhook.id)) expect(codeOf(await mutate(call))).toBe('NOT_FOUND');
    expect((await stored()).intact).toStrictEqual([]);
  });

  it('reads the list in pages, forwards', async () => {
    const { headers } = await caller(['admin'], 'acme');
    expect(dataOf<Page<Hook>>(await list('', headers))).toMatchObject({ edges: [], pageInfo: { endCursor: null } });
    for (let n = 0; n < 5; n += 1) await hookTo(t, receiver.url, { orgID: 'acme' });
    await hookTo(t, receiver.url, { orgID: 'globex' });
    const found: string[] = [];
    let after = '';
    for (let page: Page<Hook> | undefined; page?.pageInfo.hasNextPage !== false;) {
      page = dataOf<Page<Hook>>(await list(`(first: 2${after})`, headers));
      found.push(...idsOf(page));
      after = `, after: "${page.pageInfo.endCursor ?? ''}"`;
    }
    const own = (await stored()).intact.filter(({ orgID }) => orgID === 'acme').map(({ id }) => id);
    expect(found).toStrictEqual(own);
    for (const args of ['(last: 2)', '(first: -1)', '(after: "x")']) expect(codeOf(await list(args))).toBe('INVALID');
  });
});

describe('dead letters', () => {
  const letters = (id: string, args: string, headers?: Headers) =>
    t.graphql(
      `{ keyWebhook(id: "${id}") { deadLetterCount deadLetters(${args}) {
        edges { node { eventID keyHash version failedAt attempts lastError isReplayed } } pageInfo { hasNextPage endCursor } } } }`,
      {},
      headers,
    );
  interface Letter {
    readonly eventID: string;
    readonly isReplayed: boolean;
  }
  interface Letters {
    readonly deadLetterCount: number;
    readonly deadLetters: Page<Letter>;
  }
  const events = ['e5', 'e1', 'e4', 'e2', 'e3'];
  let id: string;
  beforeEach(async () => {
    await t.close();
    // Nothing delivers, so that the state stays.
    t = await startOwnApp({}, { dispatcherOptions: { ...quick, pollIntervalMs: 2 ** 31 - 1 } });
    ({ id } = await hookTo(t, receiver.url, { orgID: 'acme' }));
    await giveUp(t, id, ...events);
  });

  it('are read in pages, the oldest first', async () => {
    const found: string[] = [];
    let after = '';
    for (let page: Page<Letter> | undefined; page?.pageInfo.hasNextPage !== false;) {
      const read = dataOf<Letters>(await letters(id, `first: 2${after}`));
      expect(read.deadLetterCount).toBe(5);
      page = read.deadLetters;
      found.push(...page.edges.map(({ node }) => node.eventID));
      after = `, after: "${page.pageInfo.endCursor ?? ''}"`;
    }
    // Two of each time.
    expect(found).toStrictEqual(['e1', 'e5', 'e2', 'e4', 'e3']);
    const past = dataOf<Letters>(await letters(id, `first: 2${after}`));
    expect(past.deadLetters).toStrictEqual({ edges: [], pageInfo: { hasNextPage: false, endCursor: null } });
    for (const args of ['last: 2', 'first: -1', 'after: "x"', 'after: "WyJuYW1lcyIsImEiXQ"'])
      expect(codeOf(await letters(id, args))).toBe('INVALID');
  });

  it('are queued for another delivery, and discarded, one or all', async () => {
    const count = async (call: string) => dataOf(await mutate(`${call} { count }`))['count'];
    const replay = (more: string) => count(`replayKeyWebhookDeadLetters(id: "${id}"${more})`);
    const discard = (more: string) => count(`discardKeyWebhookDeadLetters(id: "${id}"${more})`);
    expect(await replay(', eventID: "none"')).toBe(0);
    expect(await replay(', eventID: "e4"')).toBe(1);
    expect(await replay(', eventID: "e4"')).toBe(0);
    const read = dataOf<Letters>(await letters(id, 'first: 10'));
    const replayed = read.deadLetters.edges.filter(({ node }) => node.isReplayed).map(({ node }) => node.eventID);
    expect(replayed).toStrictEqual(['e4']);
    const next = dataOf<{ retries: unknown[] }>(
      await t.graphql(`{ keyWebhook(id: "${id}") { retries { eventID attempts lastError } } }`),
    );
    expect(next.retries).toStrictEqual([{ eventID: 'e4', attempts: 0, lastError: 'returned 500' }]);
    expect(await replay('')).toBe(4);
    expect(await discard(', eventID: "none"')).toBe(0);
    expect(await discard(', eventID: "e1"')).toBe(1);
    await t.app.services.webhooks.releaseLeases('a test');
    expect(await discard('')).toBe(4);
    expect(dataOf<Letters>(await letters(id, 'first: 10')).deadLetterCount).toBe(0);
  });
});

describe('the rights of an administrator', () => {
  it('of one organization end there: others and webhooks of all organizations look missing', async () => {
    const { headers } = await caller(undefined, 'acme');
    const others = [await hookTo(t, receiver.url, { orgID: 'globex' }), await hookTo(t, receiver.url)];
    const before = await stored();
    for (const id of [...others.map((other) => other.id), 'hook_0000000000000000']) {
      for (const call of callsFor(id)) {
        const response = await mutate(call, headers);
        expect([call, codeOf(response)]).toStrictEqual([call, 'NOT_FOUND']);
        expect(errorsOf(response)[0]?.message).toBe(`There is no webhook ${id}.`);
      }
      expect(dataOf(await t.graphql(`{ keyWebhook(id: "${id}") { id } }`, {}, headers))).toBeNull();
    }
    for (const args of ['', '(orgID: "globex")'])
      expect(dataOf(await list(args, headers))).toMatchObject({ edges: [], damagedIDs: [] });
    expect(codeOf(await add({ url: receiver.url, orgID: 'globex' }, headers))).toBe('FORBIDDEN');
    expect(await stored()).toStrictEqual(before);
    expect(receiver.received).toHaveLength(0);
    // What it adds is always its own.
    for (const orgID of [undefined, null])
      expect((await addTo({ ...(orgID === null && { orgID }) }, headers)).webhook.orgID).toBe('acme');
    expect(idsOf(dataOf<Page<Hook>>(await list('', headers)))).toHaveLength(2);
    expect(idsOf(dataOf<Page<Hook>>(await list()))).toHaveLength(4);
  });

  it('are those of the scope `admin`, and of `read` to add a webhook', async () => {
    const { id } = await hookTo(t, receiver.url, { orgID: 'acme' });
    const before = await stored();
    const allButAdmin = (Object.keys(scopes) as Scope[]).filter((scope) => scope !== 'admin');
    const { headers } = await caller(allButAdmin);
    for (const call of callsFor(id)) expect(codeOf(await mutate(call, headers))).toBe('FORBIDDEN');
    expect(codeOf(await list('', headers))).toBe('FORBIDDEN');
    expect(codeOf(await t.graphql(`{ keyWebhook(id: "${id}") { id } }`, {}, headers))).toBe('FORBIDDEN');
    for (const some of [allButAdmin, ['admin', 'update']] as const) {
      const response = await add({ url: receiver.url }, (await caller(some)).headers);
      expect(codeOf(response)).toBe('FORBIDDEN');
    }
    expect(await stored()).toStrictEqual(before);
    const { webhook } = await addTo({ orgID: 'acme' }, (await caller(['admin', 'read'])).headers);
    expect(webhook.orgID).toBe('acme');
  });

  it('include ten webhooks for each organization', async () => {
    const { headers } = await caller(undefined, 'acme');
    for (let n = 0; n < maxWebhooksOfOrganization; n += 1) {
      await addTo({}, headers);
      await hookTo(t, receiver.url);
    }
    for (const [variables, who] of [
      [{}, headers],
      [{ orgID: 'acme' }, undefined],
      [{}, undefined],
    ] as const) {
      const response = await add({ url: receiver.url, ...variables }, who);
      expect(codeOf(response)).toBe('CONFLICT');
      expect(errorsOf(response)[0]?.message).toContain('10 webhooks');
    }
    await addTo({ orgID: 'globex' });
    // The last place is taken once.
    const own = (await stored()).intact.find(({ orgID }) => orgID === 'acme');
    await mutate(`removeKeyWebhook(id: "${own?.id ?? ''}") { id }`);
    const racing = await Promise.all([1, 2, 3].map(() => add({ url: receiver.url }, headers)));
    expect(racing.filter((response) => codeOf(response) === undefined)).toHaveLength(1);
  });
});

describe('a request to add a webhook', () => {
  it('is not valid with a malformed value, which the error names, and stores nothing', async () => {
    const url = receiver.url;
    const longList = Array.from({ length: 2_000 }, () => 'orgKey.created');
    const cases: readonly (readonly [object, string])[] = [
      [{ url: '' }, 'url'],
      [{ url: 'nonsense' }, 'url'],
      [{ url: 'ftp://hooks.example.com/' }, 'url'],
      [{ url: `https://hooks.example.com/${'x'.repeat(100_000)}` }, 'url'],
      [{ url: 'https://hooks.example.com/\ud800' }, 'url'],
      [{ url: `https://name:${canary}@hooks.example.com/` }, 'url'],
      [{ url: 'http://169.254.169.254/latest/meta-data/' }, 'url'],
      [{ url: 'https://[::ffff:169.254.169.254]/' }, 'url'],
      [{ url: 'http://10.0.0.1/' }, 'url'],
      [{ url: 'http://hooks.example.com/' }, 'url'],
      [{ url, label: 'x'.repeat(201) }, 'label'],
      [{ url, label: 'a\u0000' }, 'label'],
      [{ url, label: '\udc00' }, 'label'],
      [{ url, orgID: '' }, 'orgID'],
      [{ url, orgID: 'o'.repeat(2_000) }, 'orgID'],
      [{ url, eventTypes: [] }, 'eventTypes'],
      [{ url, eventTypes: ['orgKey.created', canary] }, 'eventTypes[1]'],
      [{ url, eventTypes: [...longList, 'orgkey.created'] }, 'eventTypes[2000]'],
      [{ url, idempotencyKey: '' }, 'idempotencyKey'],
      [{ url, idempotencyKey: 'k'.repeat(256) }, 'idempotencyKey'],
    ];
    for (const [variables, path] of cases) {
      const response = await add(variables);
      expect([variables, codeOf(response)]).toStrictEqual([variables, 'INVALID']);
      expect(errorsOf(response)[0]?.extensions.issues?.[0]?.path).toBe(path);
      expect(response.text).not.toContain(canary);
    }
    const unknown = await add({ url, eventTypes: ['orgKey.unknown'] });
    for (const type of knownTypes) expect(errorsOf(unknown)[0]?.message).toContain(type);
    for (const hours of [-1, 8_761]) {
      const response = await mutate(`rotateKeyWebhook(id: "hook_1", overlapHours: ${hours}) { secret }`);
      expect(issuesOf(response)).toStrictEqual(['overlapHours MALFORMED_ARGUMENT']);
    }
    for (const id of ['', '\\u0000', 'x'.repeat(10_000)])
      for (const call of callsFor(id)) expect(codeOf(await mutate(call))).toBe('NOT_FOUND');
    const pause = 'mutation ($id: ID!) { pauseKeyWebhook(id: $id) { isReleased } }';
    expect(codeOf(await t.graphql(pause, { id: '\ud800' }))).toBe('NOT_FOUND');
    expect(await stored()).toStrictEqual({ intact: [], damaged: [] });
    expect(t.logs()).not.toContain(canary);
  });

  it('that is repeated with its idempotency key returns the webhook without the secret', async () => {
    const request = { url: receiver.url, label: 'x', orgID: 'acme', idempotencyKey: 'one' };
    const added = (await Promise.all([add(request), add(request), add(request)])).map((one) => dataOf<Added>(one));
    expect(new Set(added.map(({ webhook }) => webhook.id)).size).toBe(1);
    expect(added.filter(({ secret }) => secret !== null)).toHaveLength(1);
    const others = [
      { url: `${receiver.url}/other` },
      { label: 'y' },
      { orgID: 'globex' },
      { eventTypes: ['orgKey.created'] },
    ];
    for (const other of others) {
      expect(issuesOf(await add({ ...request, ...other }))).toStrictEqual(['idempotencyKey MALFORMED_ARGUMENT']);
    }
    // Each caller has keys of its own.
    const { headers } = await caller();
    expect((await addTo(request, headers)).webhook.id).not.toBe(added[0]?.webhook.id);
    expect((await stored()).intact).toHaveLength(2);
  });
});

describe('a test message', () => {
  it('reports the status or the failure, and no text from the receiver', async () => {
    receiver.behavior = (_message, response) => {
      response.writeHead(500, { 'x-hint': canary }).end(canary);
      return undefined;
    };
    const { id } = await hookTo(t, receiver.url);
    await mutate(`pauseKeyWebhook(id: "${id}") { isReleased }`);
    const failed = await mutate(testOf(id));
    expect(dataOf(failed)).toStrictEqual({ isDelivered: false, status: 500, failure: 'returned 500' });
    expect(failed.text).not.toContain(canary);
    const closed = await hookTo(t, `http://127.0.0.1:1/${canary}`);
    const refused = { isDelivered: false, status: null, failure: 'connection refused' };
    expect(dataOf(await mutate(testOf(closed.id)))).toStrictEqual(refused);
    expect(t.logs()).not.toContain(canary);
  });

  it('is sent to permitted addresses only, also if they were permitted before', async () => {
    const place = await makeOwnPlace(sqlite);
    const earlier = await startOwnApp(place.env);
    const { id } = await hookTo(earlier, receiver.url);
    await earlier.close();
    t = await startOwnApp({ ...place.env, KEYFRONT_WEBHOOKS_TO: 'public' });
    const failure = 'the address is loopback, which KEYFRONT_WEBHOOKS_TO does not permit';
    expect(dataOf(await mutate(testOf(id)))).toStrictEqual({ isDelivered: false, status: null, failure });
    expect(receiver.received).toHaveLength(0);
  });

  it('is one at a time for each webhook, and few at once in the process', async () => {
    const response = Promise.withResolvers<number>();
    receiver.behavior = () => response.promise;
    const hooks = await Promise.all(Array.from({ length: maxTestsAtOnce + 1 }, () => hookTo(t, receiver.url)));
    let rejected = 0;
    const flood = hooks.flatMap(({ id }) => Array.from({ length: 20 }, () => mutate(testOf(id))));
    for (const one of flood) void one.then((answer) => (rejected += codeOf(answer) === 'CONFLICT' ? 1 : 0));
    await until(() => rejected === flood.length - maxTestsAtOnce);
    response.resolve(204);
    const answers = await Promise.all(flood);
    const delivered = answers.filter((answer) => codeOf(answer) === undefined);
    expect(delivered.map((answer) => dataOf(answer)['status'])).toStrictEqual(hooks.slice(1).map(() => 204));
    for (const answer of answers) expect(codeOf(answer) ?? 'CONFLICT').toBe('CONFLICT');
    expect(receiver.received).toHaveLength(maxTestsAtOnce);
    // Nor at once after another.
    const [hook] = hooks;
    expect(codeOf(await mutate(testOf(hook?.id ?? '')))).toBe('CONFLICT');
  });

  it('ends at the deadline of the request, and leaves nothing open', async () => {
    let hasEnded = false;
    receiver.behavior = (_message, response) => {
      response.on('close', () => (hasEnded = true));
      return undefined;
    };
    const { id } = await hookTo(t, receiver.url);
    const server = serveWith(t, { deadlineMs: 200 });
    const late = { isDelivered: false, status: null, failure: 'no response in time' };
    expect(dataOf(await server.graphql(`mutation { ${testOf(id)} }`))).toStrictEqual(late);
    await until(() => hasEnded);
  });

  it('that a client does not wait for ends too', async () => {
    const [started, response] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    receiver.behavior = () => {
      started.resolve();
      return response.promise;
    };
    const { id } = await hookTo(t, receiver.url);
    const abort = new AbortController();
    const request = new Request('http://keyfront.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...t.credentials },
      body: JSON.stringify({ query: `mutation { ${testOf(id)} }` }),
      signal: abort.signal,
    });
    const sent = t.app.fetch(request, '127.0.0.1').catch(() => undefined);
    await started.promise;
    abort.abort();
    response.resolve(204);
    await sent;
    const attempts = () => t.logLines('testKeyWebhook').filter(({ event }) => event === 'change');
    await until(() => attempts().length > 0);
    expect(attempts()).toMatchObject([{ verdict: 'accepted', webhook: { id, result: 'returned 204' } }]);
  });
});

describe('a change while a process that delivers hangs', () => {
  const held = `isReleased webhook { pausedAt }`;
  let id: string;
  beforeEach(async () => {
    await t.close();
    t = await startOwnApp({}, { dispatcherOptions: { ...quick, pollIntervalMs: 2 ** 31 - 1 } });
    ({ id } = await hookTo(t, receiver.url));
    await t.app.services.webhooks.acquireLeases('a process that hangs', 60_000);
  });

  it('is made, and says after three seconds that it is not released', async () => {
    const before = performance.now();
    const changed = dataOf<Changed>(await mutate(`pauseKeyWebhook(id: "${id}") { ${held} }`));
    expect(changed).toMatchObject({ isReleased: false, webhook: { pausedAt: t.clock.now.toISOString() } });
    const tookMs = performance.now() - before;
    expect(tookMs).toBeGreaterThan(2_900);
    expect(tookMs).toBeLessThan(4_900);
  });

  it('holds no request longer than its deadline', async () => {
    const server = serveWith(t, { deadlineMs: 300 });
    const before = performance.now();
    const response = await server.graphql(
      `mutation { one: pauseKeyWebhook(id: "${id}") { ${held} } two: rotateKeyWebhook(id: "${id}") { secret } }`,
    );
    expect(performance.now() - before).toBeLessThan(2_500);
    expect(response.body['data']).toMatchObject({ one: { isReleased: false }, two: null });
    expect(errorsOf(response)).toMatchObject([{ path: ['two'], extensions: { code: 'UNAVAILABLE' } }]);
    const [webhook] = (await stored()).intact;
    expect(webhook).toMatchObject({ paused: { why: 'by the API' }, previous: undefined });
  });
});

describeEngines('a damaged webhook', (engine) => {
  it('is reported to those who can see it, and can be removed', async () => {
    const place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env, { dispatcherOptions: quick });
    const { id } = await hookTo(t, receiver.url, { orgID: 'acme' });
    const { id: intact } = await hookTo(t, receiver.url, { orgID: 'acme' });
    await place.tamper(`UPDATE webhooks SET label = 'forged' WHERE id = '${id}'`);
    const [own, other] = [await caller(undefined, 'acme'), await caller(undefined, 'globex')];
    for (const headers of [undefined, own.headers]) {
      const page = dataOf<Page<Hook>>(await list('', headers));
      expect([idsOf(page), page.damagedIDs]).toStrictEqual([[intact], [id]]);
      expect(codeOf(await t.graphql(`{ keyWebhook(id: "${id}") { id } }`, {}, headers))).toBe('INTERNAL');
      for (const call of callsFor(id).filter((one) => !one.startsWith('remove')))
        expect([call, codeOf(await mutate(call, headers))]).toStrictEqual([call, 'INTERNAL']);
    }
    expect(dataOf(await list('', other.headers))).toMatchObject({ edges: [], damagedIDs: [] });
    expect(dataOf(await t.graphql(`{ keyWebhook(id: "${id}") { id } }`, {}, other.headers))).toBeNull();
    for (const call of callsFor(id)) expect(codeOf(await mutate(call, other.headers))).toBe('NOT_FOUND');
    expect(codeOf(await mutate(`removeKeyWebhook(id: "${id}") { id }`, own.headers))).toBeUndefined();
    expect(dataOf<Page<Hook>>(await list()).damagedIDs).toStrictEqual([]);
  });

  it('has no receiver if its URL cannot be decrypted', async () => {
    const place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env, { dispatcherOptions: quick });
    const { id } = await hookTo(t, receiver.url);
    await t.app.services.webhooks.change(id, (found) => ({ ...found, sealedURL: new Uint8Array(60) }));
    expect(dataOf(await t.graphql(`{ keyWebhook(id: "${id}") { receiver } }`))).toStrictEqual({ receiver: null });
    expect(codeOf(await mutate(`pauseKeyWebhook(id: "${id}") { isReleased }`))).toBeUndefined();
    expect(codeOf(await mutate(testOf(id)))).toBe('INTERNAL');
    expect(codeOf(await mutate(`removeKeyWebhook(id: "${id}") { id }`))).toBeUndefined();
  });
});

describe('the audit log', () => {
  it('has one line for each attempt, with the principal and what changed, and no secret', async () => {
    const { id: admin, headers, secret } = await caller(['admin', 'read'], 'acme');
    const url = `${receiver.url}/${canary}?token=${canary}`;
    const added = await addTo({ url, label: 'billing', eventTypes: ['orgKey.created'] }, headers);
    const { id } = added.webhook;
    const rotated = dataOf<{ secret: string }>(
      await mutate(`rotateKeyWebhook(id: "${id}", overlapHours: 1) { secret }`, headers),
    );
    const rest = callsFor(id).filter((call) => !/^(rotate|remove)/.test(call));
    for (const call of [...rest, `removeKeyWebhook(id: "${id}") { id }`, `removeKeyWebhook(id: "hook_none") { id }`])
      await mutate(call, headers);
    await add({ url: `https://name:${canary}@hooks.example.com/` }, headers);
    const lines = t.logLines('KeyWebhook').filter(({ event }) => event === 'change');
    const webhook = {
      id,
      label: 'billing',
      receiver: `http://127.0.0.1:${receiver.port}/…?…`,
      events: 'orgKey.created',
    };
    const accepted = (operation: string, more: object = {}) => {
      return { operation: `${operation}KeyWebhook`, verdict: 'accepted', org: 'acme', webhook, ...more };
    };
    expect(lines).toMatchObject([
      accepted('add'),
      accepted('rotate', { webhook: { ...webhook, overlapUntil: '2026-01-31T13:00:00.000Z' } }),
      accepted('pause'),
      accepted('resume'),
      accepted('test', { unchanged: true, webhook: { ...webhook, result: 'returned 204' } }),
      { operation: 'replayKeyWebhookDeadLetters', unchanged: true, webhook: { ...webhook, deadLetters: '0' } },
      { operation: 'discardKeyWebhookDeadLetters', unchanged: true, webhook: { ...webhook, deadLetters: '0' } },
      accepted('remove', { webhook: { id } }),
      { operation: 'removeKeyWebhook', verdict: 'rejected', code: 'NOT_FOUND', webhook: { id: 'hook_none' } },
      { operation: 'addKeyWebhook', verdict: 'rejected', code: 'INVALID' },
    ]);
    for (const { actor } of lines) expect(actor).toMatchObject({ id: admin, label: 'administrator' });
    for (const hidden of [secret, added.secret ?? '', rotated.secret, canary]) expect(t.logs()).not.toContain(hidden);
  });
});
