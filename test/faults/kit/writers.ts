import { createRandom } from '../../support/generated.js';
import type { Process } from '../../support/process.js';
import { until } from '../../support/until.js';
import { createClient, type Client } from './client.js';
import type { Entry, Operation } from './ledger.js';
import { sendOperation } from './operation.js';
import { keysFor, defaultWriters, type DataFolder } from './workspace.js';

export interface Load {
  readonly port: number;
  readonly folder: DataFolder;
  /** Determines the operations of each writer and their order, but not the interleaving of the writers. */
  readonly seed: number;
  /** Unique among the loads on a folder. */
  readonly name: string;
  readonly ledger: Entry[];
  readonly writers?: number;
}

export interface Writing {
  /** Resolves after the first response, or when the service is unreachable. */
  readonly begun: Promise<void>;
  /** Resolves after this many further responses. */
  respond(count: number): Promise<void>;
  /** Resolves when every writer has completed its operation. */
  stop(): Promise<void>;
  /** Resolves when all writers have ended. */
  readonly over: Promise<void>;
}

/** A running service and its writers. */
export interface Serving {
  readonly service: Process;
  readonly writing: Writing;
}

/** Lets each service respond to requests after the one before it has, so that it reads what the other has written. */
export async function respondInTurn(
  serving: readonly Serving[],
  { below }: ReturnType<typeof createRandom>,
): Promise<void> {
  for (const { writing } of serving) await writing.respond(20 + below(20));
}

/** Starts writers, each with one operation at a time through both APIs, until stopped or the service is unreachable. */
export function startWriting({ port, folder, seed, name, ledger, writers = defaultWriters }: Load): Writing {
  const client = createClient(port);
  const operations = Array.from({ length: writers }, (_, writer) => {
    const next = createPlan(createRandom(seed * 31 + writer), writer, `${name}-${writer}`);
    return async () => {
      const entry = await sendOperation(client, folder, next.operation());
      next.recordVersion(entry);
      return [entry];
    };
  });
  return repeat(client, ledger, operations);
}

/** Repeats each operation with its number, all of them side by side, until stopped or the service is unreachable. */
export function repeat(
  client: Client,
  ledger: Entry[],
  operations: readonly ((count: number) => Promise<readonly Entry[]>)[],
): Writing {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let isStopped = false;
  let responses = 0;
  const writing = operations.map(async (operation) => {
    for (let count = 1; !isStopped; count += 1) {
      const entries = await operation(count);
      ledger.push(...entries);
      begin();
      if (entries.some(({ response }) => response === 'unreached')) return;
      responses += 1;
    }
  });
  const over = Promise.all(writing).then(() => client.close());
  const stop = async () => {
    isStopped = true;
    await over;
  };
  const respond = async (count: number) => {
    const enough = responses + count;
    await until(() => responses >= enough, `${count} responses`);
  };
  return { begun, respond, over, stop };
}

interface Plan {
  readonly operation: () => Operation;
  /** Records the version of the writer's own key, or that it is unknown. */
  readonly recordVersion: (entry: Entry) => void;
}

/**
 * Chooses the operations of a writer: mostly updates of its own key, half of them with a version; also updates of
 * shared keys, creations and consumptions.
 */
function createPlan({ below, pick }: ReturnType<typeof createRandom>, writer: number, name: string): Plan {
  const keys = keysFor(defaultWriters);
  const own = keys.own[writer % defaultWriters] ?? '';
  let version: number | undefined;
  let count = 0;
  return {
    operation: () => {
      const mark = `${name}-${(count += 1)}`;
      const base = { api: pick(['rest', 'graphql'] as const), mark, amount: 1 + below(9) };
      const share = below(100);
      if (share < 15) return { ...base, kind: 'consume', keyID: keys.quota };
      if (share < 25) return { ...base, kind: 'create', keyID: `new-${mark}` };
      if (share < 45) return { ...base, kind: 'update', keyID: pick(keys.shared) };
      if (share < 50 && version !== undefined && version > 1) {
        return { ...base, kind: 'update', keyID: own, expectedVersion: version - 1 };
      }
      return { ...base, kind: 'update', keyID: own, expectedVersion: below(2) === 0 ? version : undefined };
    },
    recordVersion: ({ kind, keyID, outcome, version: completed }) => {
      if (kind !== 'update' || keyID !== own) return;
      if (outcome === 'ok') version = completed;
      if (outcome === 'maybe') version = undefined;
    },
  };
}
