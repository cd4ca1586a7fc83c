import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import type { App } from '../../../src/app.js';
import { revisionOf } from '../../../src/keys/key-diff.js';
import { openDatabase } from '../../../src/storage/sqlite/connection.js';

/** Puts a fault as they are made in the place of a part of the store. Called whenever the folder is opened. */
export type StoreMutant = (app: App, folder: string) => Promise<void> | void;

/** What goes wrong where two things happen at once. */
export const concurrencyMutants = {
  'a stale read': ({ services: { store } }) => {
    const find = store.find.bind(store);
    const old = new Map<string, Awaited<ReturnType<typeof find>>>();
    store.find = async (hash) => {
      const [found, known] = [await find(hash), old.get(hash)];
      old.set(hash, found);
      return known ?? found;
    };
  },
  'a lost update: read, wait, write': ({ services: { store } }) => {
    const update = store.update.bind(store);
    store.update = async (hash, change) => {
      const changed = change(await store.find(hash));
      if (!changed) return undefined;
      const { next, revision } = changed;
      await tick();
      return update(hash, (found) => {
        const version = (found?.version ?? 0) + 1;
        return {
          next: { ...next, version },
          revision: { ...revision, versionBefore: version - 1, versionAfter: version },
        };
      });
    };
  },
  'consumption in two steps: check, wait, add': ({ services: { store, ports } }) => {
    const counters = ports.externalCounters ?? store;
    const consume = counters.consume.bind(counters);
    counters.consume = async (hash, decide) => {
      const decision = decide(await store.find(hash));
      await tick();
      return consume(hash, () => decision);
    };
  },
  'a reset in a transaction after that of its definition': ({ services: { store, ports } }) => {
    const update = store.update.bind(store);
    store.update = async (hash, change) => {
      let wanted: Awaited<ReturnType<typeof update>> | undefined;
      await update(hash, (found) => {
        wanted = change(found);
        return found && wanted ? { ...wanted, next: { ...wanted.next, quota: found.quota } } : wanted;
      });
      if (!wanted) return undefined;
      const { next, revision } = wanted;
      await tick();
      if (revision.quotaUsedBeforeReset === undefined) return wanted;
      return (ports.externalCounters ?? store).consume(hash, () => ({ next: next.quota, result: { next, revision } }));
    };
  },
  'acknowledged consumption that is not stored': ({ services: { store, ports } }) => {
    const counters = ports.externalCounters ?? store;
    const consume = counters.consume.bind(counters);
    let count = 0;
    counters.consume = (hash, decide) =>
      consume(hash, (found) => {
        const { next, result: response } = decide(found);
        return { next: (count += 1) % 20 === 0 ? undefined : next, result: response };
      });
  },
} satisfies Record<string, (app: App) => void>;

/** What goes wrong when a key is rotated. */
export const rotationMutants = {
  'identifiers that are compared before the transaction that counts': ({ services: { store, ports } }) => {
    const counters = ports.externalCounters ?? store;
    const consume = counters.consume.bind(counters);
    counters.consume = async (hash, decide, orgID) => {
      const before = await store.find(hash);
      // As long as other requests take.
      for (let turn = 0; turn < 40; turn += 1) await tick();
      return consume(hash, (found) => decide(found && { ...found, identifiers: before?.identifiers }), orgID);
    };
  },
  'a rotation that starts the counter at zero': ({ services: { store } }) => {
    const update = store.update.bind(store);
    store.update = (hash, apply, orgID) =>
      update(
        hash,
        (found) => {
          const changed = apply(found);
          if (changed?.revision.operation !== 'rotate') return changed;
          return { ...changed, next: { ...changed.next, quota: { ...changed.next.quota, used: 0n } } };
        },
        orgID,
      );
  },
} satisfies Record<string, (app: App) => void>;

/** What goes wrong in the course of the life cycle of a key. */
export const lifecycleMutants = {
  'a change without a history entry': ({ services: { store } }, folder) => {
    const update = store.update.bind(store);
    store.update = async (hash, apply) => {
      const changed = await update(hash, apply);
      if (!changed) return undefined;
      const database = openDatabase(join(folder, 'keyfront.db'));
      const { versionAfter } = changed.revision;
      database.prepare('DELETE FROM history WHERE key_hash = unhex(?) AND version = ?').run(hash, versionAfter);
      database.close();
      return changed;
    };
  },
  'a restore that does not increment the version': ({ services: { store } }) => {
    const update = store.update.bind(store);
    store.update = (hash, apply) =>
      update(hash, (found) => {
        const changed = apply(found);
        if (!changed) return undefined;
        const { next, revision } = changed;
        return { next: revision.operation === 'restore' ? { ...next, version: next.version - 1 } : next, revision };
      });
  },
  'an update that changes nothing and makes a version': ({ services: { store } }) => {
    const update = store.update.bind(store);
    const actor = { credentialID: 'cred_1', label: 'a mutant' };
    store.update = async (hash, apply) =>
      (await update(hash, apply)) ??
      update(hash, (found) => {
        const next = found && { ...found, version: found.version + 1, lastUpdated: found.lastUpdated + 1n };
        const facts = { at: new Date(0), operation: 'update', actor, reason: undefined, requestID: '' } as const;
        return next && { next, revision: revisionOf(found, next, { ...facts, quotaUsedBeforeReset: undefined }) };
      });
  },
  'a timestamp that follows the clock back': ({ services: { store, now } }) => {
    const update = store.update.bind(store);
    store.update = (hash, apply) =>
      update(hash, (found) => {
        const changed = apply(found);
        if (!changed) return undefined;
        const { next, revision } = changed;
        return { next: { ...next, lastUpdated: BigInt(Math.floor(now().getTime() / 1000)) }, revision };
      });
  },
  'counters that a restart resets': async ({ services: { store, ports } }) => {
    for await (const { keyHash, key } of store.all()) {
      if (!key) continue;
      await (ports.externalCounters ?? store).consume(keyHash, () => ({
        next: { ...key.quota, used: 0n },
        result: undefined,
      }));
    }
  },
  'a stale update that is accepted': ({ services: { store } }) => {
    const update = store.update.bind(store);
    store.update = async (hash, apply) => {
      const stored = await store.find(hash);
      return update(hash, (found) => {
        if (!found || !stored) return apply(found);
        for (const version of [found.version, found.version - 1, found.version + 1]) {
          try {
            const changed = apply({ ...found, version });
            if (!changed) return undefined;
            const { next, revision } = changed;
            const after = found.version + 1;
            return {
              next: { ...next, version: after },
              revision: { ...revision, versionBefore: after - 1, versionAfter: after },
            };
          } catch {
            continue;
          }
        }
        return apply(found);
      });
    };
  },
  'a deleted key that is still returned': ({ services: { store } }) => {
    const find = store.find.bind(store);
    store.find = async (hash) => {
      const found = await find(hash);
      return found && { ...found, deleted: undefined };
    };
  },
  'a revert to the next version': ({ services: { store } }) => {
    const definitionAt = store.definitionAt.bind(store);
    store.definitionAt = async (hash, version) =>
      (await definitionAt(hash, version + 1)) ?? (await definitionAt(hash, version));
  },
  'a page that skips the first key after its cursor': ({ services: { store } }) => {
    const page = store.list.bind(store);
    store.list = async (query, reads) => {
      const { keys, isCut } = await page(query, reads);
      return { keys: keys.slice(query.after ? 1 : 0), isCut };
    };
  },
} satisfies Record<string, StoreMutant>;
