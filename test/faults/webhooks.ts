import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.js';
import { openServices } from '../../src/storage/open-storage.js';
import { createRandom } from '../support/generated.js';
import type { EnginePlace } from '../support/engines.js';
import { outOfOrder, startReceiver, verificationErrorOf, type Received } from '../support/receiver.js';
import { outputOf } from './kit/command.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys } from './kit/workspace.js';
import type { Process } from '../support/process.js';

/*
 * One service on a file, or two on one PostgreSQL database, clients that change keys, and a receiver that rejects the
 * first message of every key twice, and some others once. While messages are on their way the service that sends them is killed.
 */

export interface WebhookRun {
  readonly main: string;
  readonly place: EnginePlace;
  readonly seed: number;
  readonly kills: number;
  readonly mutant?: string;
  /** How long it is waited while nothing comes. */
  readonly timeoutMs?: number;
}

export interface WebhookReport {
  readonly kills: number;
  readonly changes: number;
  readonly attempts: number;
  /** Messages that came again although they had been accepted: at least once is what is promised. */
  readonly again: number;
  readonly seconds: number;
  /** A line each; empty where every change has come, each key's in order. */
  readonly findings: readonly string[];
}

const keyIDs = Array.from({ length: 8 }, (_, index) => `key-${index}`);

export async function killSenders(given: WebhookRun): Promise<WebhookReport> {
  const { main, place, seed, kills, mutant, timeoutMs = 45_000 } = given;
  const began = performance.now();
  const random = createRandom(seed);
  const receiver = await startReceiver();
  const services: Process[] = [];
  const start = () => launch({ main, data: place.folder, mutant, env: place.env });
  try {
    const service = await prepare(place);
    const secret = await outputOf(place.env, 'webhooks', 'add', '--to', receiver.url);
    const tries = new Map<string, number>();
    const rejections = new Map<string, number>();
    const unbelieved: string[] = [];
    receiver.behavior = async (message) => {
      const { id, data } = message;
      // Verified on receipt: the timestamp of a message is valid for five minutes, and a full run takes longer.
      const why = verificationErrorOf(secret, message);
      if (why !== undefined) unbelieved.push(why);
      // A wait of six seconds for each key, and of one for some others: all of a key's later ones wait with it.
      if (!rejections.has(id)) rejections.set(id, data.version_after === 2 ? 2 : random.below(80) === 0 ? 1 : 0);
      tries.set(id, (tries.get(id) ?? 0) + 1);
      await wait(random.below(8));
      return (tries.get(id) ?? 0) <= (rejections.get(id) ?? 0) ? 500 : 200;
    };
    // The first holds the webhook before the second comes.
    services.push(start());
    await portOf(services[0] ?? start());
    if (place.database) services.push(start());
    for (let kill = 0; kill < kills; kill += 1) {
      const before = receiver.received.length;
      const writing = startWriting(await Promise.all(services.map(portOf)), service, `${kill}`);
      const isOnItsWay = () => receiver.received.length > before + 20;
      for (const end = Date.now() + timeoutMs; !isOnItsWay() && Date.now() < end;) await wait(5);
      await wait(random.below(300));
      // It is the one that has been there for longest that sends.
      const index = kill % services.length;
      const [killed] = services.splice(index, 1, start());
      if (killed) await killNow(killed);
      await wait(100 + random.below(200));
      await writing.stop();
      await Promise.all(services.map(portOf));
    }
    const changes = await changesIn(place);
    const isThere = () => new Set(receiver.accepted().map(nameOf)).size >= changes.size;
    let heard = { count: 0, at: Date.now() };
    while (!isThere() && Date.now() < heard.at + timeoutMs) {
      if (receiver.received.length > heard.count) heard = { count: receiver.received.length, at: Date.now() };
      await wait(20);
    }
    const accepted = receiver.accepted();
    const names = new Set(accepted.map(nameOf));
    const disorder = outOfOrder(accepted, 2);
    return {
      kills,
      changes: changes.size,
      attempts: receiver.received.length,
      again: receiver.received.filter(({ isAccepted }) => isAccepted).length - accepted.length,
      seconds: Math.round((performance.now() - began) / 1000),
      findings: [
        ...[...changes].filter((name) => !names.has(name)).map((name) => `lost: ${name}`),
        ...[...names].filter((name) => !changes.has(name)).map((name) => `invented: ${name}`),
        ...(disorder === undefined ? [] : [`out of order: ${disorder}`]),
        ...unbelieved.map((why) => `not believed: ${why}`),
      ],
    };
  } finally {
    await Promise.all(services.map(killNow));
    await receiver.close();
  }
}

const nameOf = ({ data }: Received) => `${data.key_hash} ${data.version_after}`;

/** Brings the keys in, and resolves to a credential that may change them. */
async function prepare({ folder, env }: EnginePlace): Promise<string> {
  const file = join(folder, 'keys.jsonl');
  await importKeys(
    env,
    file,
    keyIDs.map((key_id) => ({ key_id, org_id: 'acme' })),
  );
  return outputOf(env, 'credentials', 'issue', '--kind', 'service', '--label', 'faults');
}

/** Clients on every port, each with all keys in its own order, that do not mind who goes away. */
function startWriting(ports: readonly number[], service: string, name: string): { stop: () => Promise<void> } {
  let isOver = false;
  const clients = ports.flatMap((port) => [0, 1].map((nr) => ({ port, nr })));
  const done = clients.map(async ({ port, nr }) => {
    for (let count = 0; !isOver; count += 1) {
      const keyID = keyIDs[(count * (nr + 1) + port) % keyIDs.length] ?? '';
      await fetch(`http://127.0.0.1:${port}/svc/org/keys/${keyID}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'x-svc-authorization': service },
        body: JSON.stringify({ alias: `${name} ${port} ${nr} ${count}` }),
        // Longer than any response takes: the service may execute an aborted update after the changes were read.
        signal: AbortSignal.timeout(60_000),
      }).then(
        (response) => response.arrayBuffer(),
        () => wait(20),
      );
      await wait(10);
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(done);
    },
  };
}

/** Every change after the import, as the database has it. */
async function changesIn(place: EnginePlace): Promise<Set<string>> {
  const { config, secrets } = readConfig(place.env);
  const installation = await openServices(config, secrets);
  try {
    const found = new Set<string>();
    for (const keyID of keyIDs) {
      const keyHash = installation.ports.hashKeyID(keyID);
      for (const { versionAfter } of await installation.store.historyOf(keyHash, { after: 1 })) {
        found.add(`${keyHash} ${versionAfter}`);
      }
    }
    return found;
  } finally {
    await installation.close();
  }
}
