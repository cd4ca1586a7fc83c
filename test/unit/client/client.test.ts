import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient, OrgKeyChangedDocument, OrgKeyDocument } from '../../../src/client/client.js';

const url = 'http://keyfront.test';
const json = (body: object, status = 200) => Response.json(body, { status, headers: { 'x-request-id': 'request-1' } });
const unavailable = {
  message: 'The counter cannot be reached.',
  path: ['orgKey', 'quota'],
  extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 5, requestID: 'request-1' },
};
const stream = (...results: object[]) =>
  new Response(
    `${results.map((result) => `event: next\ndata: ${JSON.stringify(result)}\n\n`).join('')}event: complete\n\n`,
    { headers: { 'content-type': 'text/event-stream' } },
  );

describe('send', () => {
  const sent = (response: Response) =>
    createClient({ url, fetch: () => Promise.resolve(response) }).send(OrgKeyDocument, {
      by: { keyID: 'a' },
      first: 1,
    });

  it('returns the available data with the errors of the rest', async () => {
    const data = { orgKey: { keyID: 'a', quota: null } };
    const result = await sent(json({ data, errors: [unavailable] }));
    expect(result.data).toStrictEqual(data);
    expect(result.errors).toMatchObject([
      { code: 'UNAVAILABLE', path: ['orgKey', 'quota'], retryAfterSeconds: 5, requestID: 'request-1' },
    ]);
    expect(await sent(json({ data }))).toStrictEqual({ data, errors: [] });
  });

  it('rejects with the first error when every field failed, not when one succeeded or is null without an error', async () => {
    await expect(sent(json({ data: { orgKey: null }, errors: [unavailable] }))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    const data = { orgKey: null, other: {} };
    expect((await sent(json({ data, errors: [unavailable] }))).data).toStrictEqual(data);
    expect((await sent(json({ data: { orgKey: null } }))).data).toStrictEqual({ orgKey: null });
    const nulls = { orgKey: null, other: null };
    const partial = await sent(json({ data: nulls, errors: [unavailable] }));
    expect(partial.data).toStrictEqual(nulls);
    expect(partial.errors).toMatchObject([{ code: 'UNAVAILABLE', path: ['orgKey', 'quota'] }]);
    const both = [unavailable, { ...unavailable, path: ['other'] }];
    await expect(sent(json({ data: nulls, errors: both }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('rejects with the first error when there is no data', async () => {
    await expect(sent(json({ data: null, errors: [unavailable] }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(sent(json({}, 500))).rejects.toMatchObject({ code: 'INTERNAL', requestID: 'request-1' });
  });
});

describe('follow', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('yields each event with its errors', async () => {
    const event = { orgKeyChanged: { __typename: 'KeyFeedCheckpoint', cursor: 'c1' } };
    const fetch = () => Promise.resolve(stream({ data: event, errors: [unavailable] }));
    const events = createClient({ url, fetch }).follow(OrgKeyChangedDocument, {});
    const { value } = await events.next();
    expect(value).toMatchObject({ data: event, errors: [{ code: 'UNAVAILABLE' }] });
    await events.return();
  });

  it('leaves no listener on its signal, after any number of connections', async () => {
    const over = new AbortController();
    let connections = 0;
    const fetch = () => {
      connections += 1;
      return Promise.reject(new Error('no connection'));
    };
    const end = createClient({ url, fetch }).follow(OrgKeyChangedDocument, {}, { signal: over.signal }).next();
    while (connections < 8) await vi.advanceTimersByTimeAsync(1_000);
    expect(getEventListeners(over.signal, 'abort').length).toBeLessThanOrEqual(1);
    over.abort();
    expect(await end).toStrictEqual({ done: true, value: undefined });
    expect(getEventListeners(over.signal, 'abort')).toHaveLength(0);
  });

  const rateLimited = () =>
    json({ errors: [{ message: 'Too many.', extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 60 } }] }, 429);

  it('retries RATE_LIMITED four times, each after its delay, and then throws it', async () => {
    const times: number[] = [];
    const fetch = () => {
      times.push(Date.now());
      return Promise.resolve(rateLimited());
    };
    const end = createClient({ url, fetch }).follow(OrgKeyChangedDocument, {}).next();
    const rejected = expect(end).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    await vi.advanceTimersByTimeAsync(3_600_000);
    await rejected;
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toStrictEqual(Array(4).fill(60_000));
  });

  it('counts RATE_LIMITED anew after an event, and retries UNAVAILABLE without end', async () => {
    const event = { data: { orgKeyChanged: { cursor: 'c1', entry: null } } };
    let connections = 0;
    const fetch = () => {
      connections += 1;
      const failure = connections % 2 === 0 ? rateLimited() : json({ errors: [unavailable] }, 503);
      return Promise.resolve(connections % 8 === 0 ? stream(event) : failure);
    };
    const over = new AbortController();
    const events = createClient({ url, fetch }).follow(OrgKeyChangedDocument, {}, { signal: over.signal });
    for (let count = 1; count <= 10; count += 1) {
      const next = events.next();
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect((await next).value).toMatchObject(event);
      expect(connections).toBe(8 * count);
    }
    over.abort();
    await events.return();
  });

  it('ends at once when its signal was aborted before it would wait', async () => {
    const over = new AbortController();
    const fetch = () =>
      Promise.resolve(stream({ data: { orgKeyChanged: { __typename: 'KeyFeedCheckpoint', cursor: 'c1' } } }));
    const events = createClient({ url, fetch }).follow(OrgKeyChangedDocument, {}, { signal: over.signal });
    await events.next();
    over.abort();
    // No time passes here: with a wait this would not resolve.
    expect(await events.next()).toStrictEqual({ done: true, value: undefined });
  });
});
