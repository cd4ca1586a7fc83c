import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createResponder } from '../../../src/http/respond.js';
import type { RequestContext } from '../../../src/http/request-context.js';
import type { HTTPResponse } from '../../../src/http/response.js';
import { createRouter, type Route } from '../../../src/http/router.js';
import { AppError } from '../../../src/lib/errors.js';
import { createLogger } from '../../../src/lib/log.js';
import { requestContextOf } from '../../support/request-context.js';

const text = (body: string): HTTPResponse => ({ status: 200, headers: {}, body });
const route = (method: string, path: string): Route => ({
  path,
  method,
  handle: (_request, wildcard) => text(`${method} ${path} ${wildcard}`),
});
const routes = [route('GET', '/keys'), route('GET', '/keys/*'), route('PUT', '/keys/*'), route('*', '/graphql')];

const request = (path: string, method = 'GET') => requestContextOf(new Request(`http://localhost${path}`, { method }));

async function send(context: RequestContext) {
  const { status, headers, body } = await createRouter(routes)(context)();
  return { status, allow: headers['allow'], body: String(body), route: context.record.route };
}

describe('a router', () => {
  it.each([
    ['GET', '/keys', '/keys', ''],
    ['GET', '/keys?limit=1', '/keys', ''],
    ['GET', '/keys/k1', '/keys/*', 'k1'],
    ['PUT', '/keys/a%2Fb', '/keys/*', 'a%2Fb'],
    ['PUT', '/keys/*', '/keys/*', '*'],
  ])('sends %s %s to the route %s', async (method, path, pattern, wildcard) => {
    expect(await send(request(path, method))).toEqual({
      status: 200,
      allow: undefined,
      body: `${method} ${pattern} ${wildcard}`,
      route: pattern,
    });
  });

  it('sends every method to a route for all methods', async () => {
    expect(await send(request('/graphql', 'DELETE'))).toMatchObject({ status: 200, body: '* /graphql ' });
  });

  it.each(['/', '/key', '/keys/', '/keys/a/b', '/graphql/', '/KEYS'])(
    'responds with 404 to %s and does not name the path in the record',
    async (path) => {
      const response = await send(request(path));
      expect(response).toMatchObject({ status: 404, route: '(other)' });
      expect(JSON.parse(response.body)).toMatchObject({ code: 'NOT_FOUND', request_id: 'request-1' });
    },
  );

  it('responds with 405 and the methods of the path to another method', async () => {
    const response = await send(request('/keys/k1', 'DELETE'));
    expect(response).toMatchObject({ status: 405, allow: 'GET, HEAD, PUT', route: '/keys/*' });
    expect(JSON.parse(response.body)).toMatchObject({
      message: 'The method is not allowed. The path supports GET, HEAD, PUT.',
    });
  });

  it('responds to HEAD as to GET, without the body', async () => {
    const context = request('/keys', 'HEAD');
    expect(await createRouter(routes)(context)()).toEqual({ ...text(''), body: null });
  });

  it('destroys the stream of a response to HEAD', async () => {
    const stream = new Readable({ read: () => undefined });
    const handle = () => ({ status: 200, headers: {}, body: stream });
    await createRouter([{ path: '/', method: 'GET', handle }])(request('/', 'HEAD'))();
    expect(stream.destroyed).toBe(true);
  });
});

describe('a responder', () => {
  function failing(error: Error) {
    const lines: string[] = [];
    const sink = { write: (line: string) => void lines.push(line) };
    const handle = () => Promise.reject(error);
    const routes = [{ path: '/', method: 'GET', handle }];
    const respond = createResponder({ routes, log: createLogger('info', sink) });
    const context = request('/');
    return { context, lines, response: respond(context) };
  }

  it('masks an unexpected error and writes it to the log', async () => {
    const { response, lines, context } = failing(new Error('the story'));
    const { status, body } = await response;
    expect(status).toBe(500);
    expect(JSON.parse(String(body))).toEqual({
      status: 'error',
      message: 'Internal error.',
      code: 'INTERNAL',
      request_id: 'request-1',
    });
    expect(lines.join('')).toContain('the story');
    expect(context.record.verdict).toBe('INTERNAL');
  });

  it('passes an error for clients, and does not log it', async () => {
    const { response, lines, context } = failing(new AppError('UNAVAILABLE', 'Later.', { retryAfterSeconds: 3 }));
    expect(await response).toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
    expect(lines.join('')).not.toContain('internal error');
    expect(context.record.verdict).toBe('UNAVAILABLE');
  });
});
