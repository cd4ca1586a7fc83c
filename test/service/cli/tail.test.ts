import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine, type Outcome } from '../../support/cli.js';
import { makeOwnPlace, postgres } from '../../support/engines.js';
import { until } from '../../support/until.js';

interface Tail {
  /** The lines of JSON that were printed. */
  readonly changes: () => Record<string, unknown>[];
  readonly stop: () => void;
  readonly ended: Promise<Outcome>;
}

const places = ['the data folder', 'a service', postgres.name];

for (const place of places) {
  const isPostgres = place === postgres.name;
  describe.skipIf(isPostgres && postgres.isMissing)(`keyfront keys follow on ${place}`, () => {
    let c: CommandLine;
    let env: Record<string, string> = {};
    /** The cursor before the first change. */
    let start = '';

    beforeEach(async () => {
      c = await makeOwnCommandLine();
      env = {};
      if (isPostgres) ({ env } = await makeOwnPlace(postgres));
      await c.create(env);
      if (place === 'a service') ({ env } = await serveFolder(c));
      start = await cursorOfNow();
      await put('acme-1', { org_id: 'acme', alias: 'first' });
    });

    async function put(keyID: string, definition: object): Promise<void> {
      const file = await c.file(`${keyID}.json`, JSON.stringify(definition));
      expect(await c.keyfront(['put', keyID, file, '--create'], env)).toMatchObject({ code: 0 });
    }

    function tail(...args: string[]): Tail {
      let printed = '';
      let stop = (): void => undefined;
      const ended = c.keyfront(['tail', ...args], env, false, {
        onStop: (callback) => (stop = callback),
        onStdout: (text) => (printed += text),
      });
      const changes = () => jsonLines(printed.slice(0, printed.lastIndexOf('\n') + 1));
      return { changes, stop: () => stop(), ended };
    }

    /**
     * The cursor of the change that `beforeEach` made, read from the first change after `start`. A cursor of now could be older:
     * on PostgreSQL, a transaction of another test delays the change.
     */
    async function cursor(): Promise<string> {
      const running = tail('--after', start, '--json');
      await until(() => running.changes().length > 0);
      running.stop();
      await running.ended;
      return String(running.changes()[0]?.['cursor']);
    }

    async function cursorOfNow(): Promise<string> {
      let stop = (): void => undefined;
      const { stderr } = await c.keyfront(['tail'], env, false, {
        onStop: (callback) => (stop = callback),
        onStderr: (text) => text.startsWith('Waiting') && stop(),
      });
      return /--after (\S+)/.exec(stderr)?.[1] ?? '';
    }

    it('prints changes as JSON Lines until it is stopped, and continues from a cursor', async () => {
      const after = await cursor();
      await put('acme-1', { alias: 'second' });
      const running = tail('--after', after, '--json');
      await until(() => running.changes().length === 1);
      await put('globex-1', { org_id: 'globex' });
      await until(() => running.changes().length === 2);
      running.stop();
      const { code, stderr } = await running.ended;
      expect(code).toBe(0);
      const [first, second] = running.changes();
      expect(first).toMatchObject({
        org_id: 'acme',
        version: 2,
        operation: 'update',
        changes: [{ path: 'alias', kind: 'CHANGED', before: 'first', after: 'second' }],
      });
      expect(second).toMatchObject({ org_id: 'globex', version: 1, operation: 'create' });
      expect(stderr).toContain(`--after ${String(second?.['cursor'])}\n`);
    });

    it('follows one key by its identifier or its hash, also after a rotation has replaced it', async () => {
      const follow = async (...args: string[]) => {
        const running = tail(...args, '--after', start, '--json');
        await until(() => running.changes().length >= 2);
        running.stop();
        expect((await running.ended).code).toBe(0);
        return running.changes().map(({ org_id, version }) => [org_id, version]);
      };
      await put('globex-1', { org_id: 'globex' });
      const { out, code } = await c.keyfront(['keys', 'rotate', 'acme-1', '--json'], env);
      expect(code).toBe(0);
      const { key, key_hash: keyHash } = JSON.parse(out) as { key: string; key_hash: string };
      const changes = [
        ['acme', 1],
        ['acme', 2],
      ];
      const file = await c.file('id.txt', `${key}\n`);
      for (const args of [['acme-1'], [key], ['--key-id-file', file], ['--key-hash', keyHash.slice(0, 12)]]) {
        expect(await follow(...args), args[0]).toStrictEqual(changes);
      }
      expect(await c.keyfront(['tail', 'unknown'], env)).toMatchObject({ code: 1 });
      expect(await c.keyfront(['tail', 'acme-1', '--key-hash', keyHash], env)).toMatchObject({ code: 2 });
    });
  });
}

describe('a connection of keyfront keys follow', () => {
  const event = (cursor: string) => {
    const entry = {
      version: 1,
      at: '2026-11-21T12:00:00Z',
      operation: 'CREATE',
      actor: { credentialID: 'c', label: 'l', assertedName: null },
    };
    const data = { orgKeyChanged: { cursor, keyHash: 'h', orgID: 'acme', entry: { ...entry, changes: [] } } };
    return `event: next\ndata: ${JSON.stringify({ data })}\n\n`;
  };

  it('continues after the last change when it was lost', async () => {
    const c = await makeOwnCommandLine();
    const requested: unknown[] = [];
    const service = createServer((request, response) => {
      void text(request).then((body) => {
        requested.push((JSON.parse(body) as { variables: object }).variables);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event(`c${requested.length}`));
        if (requested.length === 1) response.write('event: ne', () => response.destroy());
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      service.closeAllConnections();
      service.close();
    });
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    let stop = (): void => undefined;
    const env = { KEYFRONT_URL: url, KEYFRONT_SERVICE_CREDENTIAL: 'secret' };
    const { code, out, stderr } = await c.keyfront(['tail', '--json', '--after', 'c0'], env, false, {
      onStop: (callback) => (stop = callback),
      onStdout: (line) => line.includes('"c2"') && stop(),
    });
    expect([code, out.match(/"cursor":"c\d"/g)]).toStrictEqual([0, ['"cursor":"c1"', '"cursor":"c2"']]);
    expect(requested).toMatchObject([{ after: 'c0' }, { after: 'c1' }]);
    expect(stderr).toContain(`The connection to ${url} was lost. Reconnecting.\n`);
  });

  it('is not opened again if it was never open', async () => {
    const c = await makeOwnCommandLine();
    const env = { KEYFRONT_URL: 'http://127.0.0.1:1', KEYFRONT_SERVICE_CREDENTIAL: 'secret' };
    const { code, stderr } = await c.keyfront(['tail'], env, false, { onStop: () => undefined });
    expect([code, stderr]).toStrictEqual([2, expect.stringContaining('Cannot connect to http://127.0.0.1:1')]);
  });
});
