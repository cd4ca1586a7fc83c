import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createClient, OrgKeyChangedDocument, type OrgKeyChangedSubscription } from '../../../src/client/client.js';
import { buildMain } from '../../support/build.mjs';
import { killNow, launch, portOf } from '../../faults/kit/service.js';
import type { Process } from '../../support/process.js';
import { putKey } from '../../support/processes.js';
import { openStream } from '../../support/event-stream.js';
import { startApp, type TestApp } from '../../support/app.js';
import { postgres, sqlite, type EnginePlace } from '../../support/engines.js';
import { until } from '../../support/until.js';

type Event = Extract<OrgKeyChangedSubscription['orgKeyChanged'], { __typename: 'OrgKeyChanged' }>;
const beginning = Buffer.from('0.0.').toString('base64url');

let main: string;
beforeAll(async () => {
  main = await buildMain();
});

/** Processes of the real thing on one place, and a client that follows one port after another. */
class Stage {
  readonly #running: Process[] = [];
  readonly #over = new AbortController();
  readonly seen: Event[] = [];
  #port = 0;

  readonly place: EnginePlace;
  readonly local: TestApp;

  constructor(place: EnginePlace, local: TestApp) {
    this.place = place;
    this.local = local;
  }

  async start(args: readonly string[] = []): Promise<{ process: Process; port: number }> {
    const { folder, env } = this.place;
    const process = launch({ main, data: folder, env: { ...env, LOG_LEVEL: 'info' }, args });
    this.#running.push(process);
    return { process, port: await portOf(process) };
  }

  /** From now on the client finds the service here. */
  moveTo(port: number): void {
    this.#port = port;
  }

  follow(after: string): void {
    const client = createClient({
      url: 'http://keyfront.test',
      service: this.local.service,
      fetch: (input, init) => fetch(String(input).replace('keyfront.test', `127.0.0.1:${this.#port}`), init),
    });
    void (async () => {
      for await (const { data } of client.follow(OrgKeyChangedDocument, { after }, { signal: this.#over.signal })) {
        if (data.orgKeyChanged.__typename === 'OrgKeyChanged') this.seen.push(data.orgKeyChanged);
      }
    })();
  }

  updates = 0;

  /** Changes a key, to another alias each time. */
  async update(port: number, keyID: string): Promise<number | undefined> {
    try {
      const definition = { alias: `update ${(this.updates += 1)}` };
      return (await putKey(`http://127.0.0.1:${port}`, this.local.service, definition, keyID)).status;
    } catch {
      return undefined;
    }
  }

  async versionOf(keyID: string): Promise<number> {
    const { store, ports } = this.local.app.services;
    return (await store.find(ports.hashKeyID(keyID)))?.version ?? 0;
  }

  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#running.map(killNow));
    await this.local.close();
    await this.place.remove();
  }
}

let stage: Stage;
async function setStage(engine: typeof sqlite): Promise<Stage> {
  const place = await engine.make();
  const local = await startApp(place.env);
  await local.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'acme' });
  stage = new Stage(place, local);
  return stage;
}
afterEach(async () => stage.end());

async function expectEachOnce(keyIDs: readonly string[]): Promise<void> {
  for (const keyID of keyIDs) {
    const version = await stage.versionOf(keyID);
    const keyHash = stage.local.app.services.ports.hashKeyID(keyID);
    const own = () => stage.seen.filter((event) => event.keyHash === keyHash).map(({ entry }) => entry?.version);
    await until(() => own().length >= version);
    expect(own()).toStrictEqual(Array.from({ length: version }, (_, index) => index + 1));
  }
}

describe('a client that follows the changes', () => {
  it('yields every change once though its process is killed repeatedly', async () => {
    const { seen } = await setStage(sqlite);
    let { process, port } = await stage.start();
    stage.moveTo(port);
    stage.follow(beginning);
    let acknowledged = 0;
    for (let kills = 0; kills < 3; kills += 1) {
      const writing = Promise.all(
        ['k1', 'k2'].map(async (keyID) => {
          for (let count = 0; count < 200; count += 1) {
            const status = await stage.update(port, keyID);
            if (status === 200) acknowledged += 1;
            if (status === undefined) return;
          }
        }),
      );
      await until(() => seen.length > kills * 10 + 4);
      await killNow(process);
      await writing;
      ({ process, port } = await stage.start());
      stage.moveTo(port);
    }
    await expectEachOnce(['k1', 'k2']);
    expect(acknowledged).toBeGreaterThan(10);
    expect(seen.length).toBeGreaterThanOrEqual(acknowledged);
  });

  it('O-01 receives the reason when the process stops, which exits with 0 without waiting for the client', async () => {
    await setStage(sqlite);
    const { process, port } = await stage.start();
    const url = `http://127.0.0.1:${port}`;
    const stream = await openStream({ url, service: stage.local.service });
    const idle = await openStream({ url, service: stage.local.service, variables: { orgID: 'acme' } });
    for (const one of [stream, idle]) await one.next();
    const began = performance.now();
    process.kill('SIGTERM');
    for (const one of [stream, idle]) {
      expect((await one.rest())[0]?.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    }
    expect(await process.exited).toMatchObject({ code: 0 });
    // Well before the service closes open connections.
    expect(performance.now() - began).toBeLessThan(6_000);
  });

  it('yields changes by another worker', async () => {
    await setStage(sqlite);
    const { port } = await stage.start(['serve', '--workers', '2']);
    const url = `http://127.0.0.1:${port}`;
    const streams = await Promise.all(
      Array.from({ length: 6 }, () =>
        openStream({ url, service: stage.local.service, headers: { connection: 'close' } }),
      ),
    );
    for (const stream of streams) await stream.next();
    for (let count = 0; count < 6; count += 1) expect(await stage.update(port, 'k1')).toBe(200);
    for (const stream of streams) {
      for (let version = 2; version <= 7; version += 1) {
        expect((await stream.next())?.data?.orgKeyChanged.entry?.version).toBe(version);
      }
      await stream.close();
    }
  });

  it.skipIf(postgres.isMissing)(
    `yields changes by another process, and continues there when its own is killed, on ${postgres.name}`,
    async () => {
      await setStage(postgres);
      const [first, second] = await Promise.all([stage.start(), stage.start()]);
      stage.moveTo(first.port);
      stage.follow(beginning);
      const write = async (port: number, keyID: string) => {
        for (let count = 0; count < 60; count += 1) await stage.update(port, keyID);
      };
      const writing = Promise.all([first, second].flatMap(({ port }) => [write(port, 'k1'), write(port, 'k2')]));
      await until(() => stage.seen.length > 40);
      stage.moveTo(second.port);
      await killNow(first.process);
      await writing;
      await expectEachOnce(['k1', 'k2']);
    },
  );
});
