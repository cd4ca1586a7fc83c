import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../support/until.js';
import { cuts, openClient, type Client, type Cut } from './client.js';
import type { AttackedService, Memory } from './service.js';
import type { Stage } from './stages.js';

/** What a suite attacks. */
interface Attack {
  readonly start: () => Promise<AttackedService>;
  readonly port?: (service: AttackedService) => number;
  readonly isTLS?: boolean;
  readonly stages: readonly Stage[];
  /** The number of connections that are cut at the same time. */
  readonly batchSize: number;
}

/** The share by which the memory after an attack may exceed the memory before. */
const maxGrowth = 0.2;

/**
 * Cuts connections at every stage in both ways, twice. The second time shows whether they leave memory behind: the first
 * fills caches and compiles code.
 */
export function describeCutConnections(
  what: string,
  { start, port = (service) => service.port, isTLS = false, stages, batchSize }: Attack,
): void {
  const attacks = stages.flatMap((stage) => cuts.map((cut) => ({ stage, name: stage.name, cut })));
  const countOf = ({ atMost = batchSize }: Stage) => Math.min(atMost, batchSize);
  const count = attacks.reduce((total, { stage }) => total + 2 * countOf(stage), 0);

  describe(`${what}: ${count} connections`, () => {
    let service: AttackedService;
    beforeAll(async () => {
      service = await start();
    });
    afterAll(async () => service.stop());

    /** Resolves to the number of connections that reached the stage. */
    async function attack(stage: Stage, cut: Cut): Promise<number> {
      const opening = Array.from({ length: countOf(stage) }, (_, index) => openClient(port(service), index, isTLS));
      const clients = await Promise.all(opening);
      return cutAll(clients, stage, cut, service.credential);
    }

    it.each(attacks)('$name, $cut', async ({ stage, cut }) => {
      // On a busy machine, the server rejects requests, and closes connections that are too slow.
      await until(async () => {
        const reached = await attack(stage, cut);
        await service.expectSound();
        return reached > 0;
      }, 'The stage');
    });

    it('leave no memory behind', { timeout: 300_000 }, async () => {
      const before = await service.memory();
      for (const { stage, cut } of attacks) await attack(stage, cut);
      await service.expectSound();
      const after = await settled(service, before);
      console.log(`${what}: memory ${shown(before)} before, ${shown(after)} after`);
      expect(after.heapUsed).toBeLessThan(before.heapUsed * (1 + maxGrowth));
      expect(after.external).toBeLessThan(before.external * (1 + maxGrowth));
      await service.expectSound();
    });

    // The server may notice a reset over TLS only at the timeout of the response, after a minute.
    it('leave no connection behind', async () => {
      await service.untilUnconnected();
      await service.expectSound();
    });
  });
}

/** Brings all connections to the stage and cuts each as soon as it is there. Resolves when all are closed. */
async function cutAll(clients: readonly Client[], stage: Stage, cut: Cut, credential: string): Promise<number> {
  const firstResponse = Promise.any(clients.map((client) => client.received('HTTP/1.1')));
  firstResponse.catch(() => undefined);
  const reached = await Promise.allSettled(
    clients.map(async (client) => {
      try {
        await stage.reach(client, { credential, firstResponse });
      } finally {
        client.cut(cut);
      }
    }),
  );
  await Promise.all(clients.map(({ closed }) => closed));
  return reached.filter(({ status }) => status === 'fulfilled').length;
}

/** Measures until the memory is small enough, because the last timers of connections hold it for some seconds. */
async function settled(service: AttackedService, before: Memory): Promise<Memory> {
  for (let attempt = 1; ; attempt += 1) {
    const after = await service.memory();
    const isSmall = (name: keyof Memory) => after[name] < before[name] * (1 + maxGrowth);
    if ((isSmall('heapUsed') && isSmall('external')) || attempt === 15) return after;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

const shown = ({ heapUsed, external }: Memory) => `${mebibytes(heapUsed)} heap, ${mebibytes(external)} external`;
const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
