import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { secretPaths } from '../../src/keys/definition/normalize.js';
import { createLogger } from '../../src/lib/log.js';
import { wireName } from '../../src/wire/field-names.js';
import { startOwnApp, type TestApp } from '../support/app.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

/** A logger and the text that it has written. */
function createSink() {
  let text = '';
  const log = createLogger('trace', { write: (line: string) => void (text += line) });
  return { log, text: () => text };
}

/** A value in every way that it may come into a log, a message or a report. */
function printed(value: unknown): string {
  const { log, text } = createSink();
  log.info({ value }, 'printed');
  return [
    inspect(value, { depth: 10, showHidden: false }),
    JSON.stringify(value),
    String(value),
    inspect({ ...(value as object) }, { depth: 10 }),
    text(),
  ].join('\n');
}

describe('printing to the log', () => {
  const pepper = 'p3pper-'.repeat(6);

  it('shows no secret of the settings, which stay readable for code', () => {
    const { config, secrets } = readConfig({ KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: pepper });
    expect(printed({ config, secrets })).not.toContain(pepper);
    expect(printed(config)).toContain('hmac-sha256');
    expect(secrets.keyHashPepper).toBe(pepper);
  });

  it('shows no secret of a credential, of which only the hash is stored', async () => {
    const { secret } = await t.issue('service');
    const credentials = await t.app.services.credentials.list();
    for (const credential of credentials) expect(printed(credential)).not.toContain(secret);
    expect(printed(credentials)).not.toContain(secret);
  });

  it('shows no key of the ring and no credential of an installation', () => {
    const text = inspect(t.app.services, { depth: 10 });
    for (const secret of [t.management, t.service]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/[A-Za-z0-9+/]{43}=/);
  });

  it.each([
    ...Object.values(secretPaths)
      .map((path) => path.at(-1) ?? '')
      .flatMap((name) => [name, wireName(name)]),
    'authorization',
    'x-svc-authorization',
    'token',
    'keyID',
  ])('redacts a member %s at any depth', (name) => {
    const { log, text } = createSink();
    log.info({ [name]: 's3cret-marker' }, 'x');
    log.info({ a: { [name]: 's3cret-marker' } }, 'x');
    log.info({ a: { b: { [name]: 's3cret-marker' } } }, 'x');
    log.info({ a: [{ b: { c: { d: { [name]: { in: 's3cret-marker' } } } } }] }, 'x');
    log.info({ err: Object.assign(new Error('x'), { [name]: 's3cret-marker' }) }, 'x');
    log.info({ a: Object.assign(new Error('x'), { [name]: 's3cret-marker' }) }, 'x');
    log.info({ err: new AggregateError([Object.assign(new Error('x'), { [name]: 's3cret-marker' })], 'x') }, 'x');
    log.child({ [name]: 's3cret-marker' }).info('x');
    expect(text()).not.toContain('s3cret-marker');
    expect(text().match(/\[hidden\]/g)).toHaveLength(8);
  });
});
