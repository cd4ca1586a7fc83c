import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJSON, stringifyJSON } from '../../../src/lib/json.js';
import { buildMain } from '../../support/build.mjs';
import { killNow, launch, portOf } from '../../faults/kit/service.js';
import type { Process } from '../../support/process.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { postgres, type EnginePlace } from '../../support/engines.js';
import { createRandom, itDetects, runs, seed } from '../../support/generated.js';
import { until } from '../../support/until.js';
import { unexplained } from './linearizability.js';
import { oneKey, record } from './one-key.js';
import { concurrencyMutants } from './store-mutants.js';

const histories = runs('HISTORIES', 4);

/**
 * An app that represents a process, or another one if that has ended. A request without a response counts as 503: its
 * outcome is unknown.
 */
function remote(local: TestApp, port: number, otherPort = port, onResponse?: () => void): TestApp {
  const send: TestApp['send'] = async (path, init): Promise<TestResponse> => {
    for (const to of [port, otherPort]) {
      try {
        const response = await fetch(`http://127.0.0.1:${to}${path}`, init);
        const text = await response.text();
        onResponse?.();
        return {
          status: response.status,
          headers: response.headers,
          text,
          body: parseJSON(text) as TestResponse['body'],
        };
      } catch (error) {
        if (!isUnsent(error)) break;
      }
    }
    return { status: 503, headers: new Headers(), text: '', body: {} };
  };
  const { management, service } = local;
  const json = { 'content-type': 'application/json', 'x-svc-authorization': service };
  return {
    ...local,
    send,
    graphql: (query, variables = {}) =>
      send('/graphql', {
        method: 'POST',
        headers: { ...json, authorization: `Bearer ${management}` },
        body: stringifyJSON({ query, variables }),
      }),
    update: (keyID, definition, query = '', headers = {}) =>
      send(`/svc/org/keys/${keyID}${query}`, {
        method: 'PUT',
        headers: { ...json, ...headers },
        body: stringifyJSON(definition),
      }),
  };
}

function isUnsent(error: unknown): boolean {
  return error instanceof Error && (error.cause as { code?: unknown } | undefined)?.code === 'ECONNREFUSED';
}

describe.skipIf(postgres.isMissing)(`two processes on ${postgres.name}, of which one is killed`, () => {
  let main: string;
  let place: EnginePlace;
  let local: TestApp;
  beforeAll(async () => {
    main = await buildMain();
    place = await postgres.make();
    local = await startApp(place.env);
  }, 120_000);
  afterAll(async () => {
    await local.close();
    await place.remove();
  });

  const start = () => launch({ main, data: place.folder, env: place.env });

  it('are linearizable', { timeout: 240_000 + histories * 10_000 }, async () => {
    const { below } = createRandom(seed);
    const services: Process[] = [start(), start()];
    let open = 0;
    try {
      for (let index = 0; index < histories; index += 1) {
        const ports = await Promise.all(services.map(portOf));
        let responses = 0;
        const apps = ports.map((port, at) => remote(local, port, ports[1 - at], () => (responses += 1)));
        const recording = record(apps, seed + index, 200);
        const killAfter = 20 + below(100);
        await until(() => responses >= killAfter);
        const [killed] = services.splice(0, 1);
        if (killed) await killNow(killed);
        const history = await recording;
        open += history.filter(({ output }) => output === undefined).length;
        expect(unexplained(history, oneKey), `FUZZ_SEED=${seed + index}`).toBeUndefined();
        expect(history.filter(({ output }) => output !== undefined).length).toBeGreaterThan(50);
        services.push(start());
      }
      // A process was killed during a request.
      expect(open).toBeGreaterThan(0);
    } finally {
      await Promise.all(services.map(killNow));
    }
  });

  itDetects('fail this test with a mutant that reads old values', async () => {
    const stale = await startApp(place.env);
    concurrencyMutants['a stale read'](stale.app);
    const service = start();
    try {
      const apps = [remote(local, await portOf(service)), { ...stale, service: local.service }];
      let found: object[] | undefined;
      for (let index = 0; index < 5 && !found; index += 1) {
        found = unexplained(await record(apps, seed + index, 200), oneKey);
      }
      expect(found).toBeDefined();
    } finally {
      await killNow(service);
      await stale.close();
    }
  });
});
