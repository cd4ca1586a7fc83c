import { expect } from 'vitest';
import { createClient, sync, type DeliveredFragment, type SyncOptions } from '../../src/client/client.js';
import { retireIdentifiers } from '../../src/keys/rotate.js';
import type { TestApp } from './app.js';
import { dataOf } from './responses.js';
import { until } from './until.js';

class Crash extends Error {}

/** A copy of the keys, whose adapter can be stopped at any call: before it has done its work, or after that. */
export class Copy {
  readonly keys = new Map<string, DeliveredFragment>();
  readonly unreadable: string[] = [];
  readonly calls: string[] = [];
  saved: string | undefined;
  crashAt = Infinity;
  crashes = 0;

  async #called(name: string, work: () => void): Promise<void> {
    // Adapters work asynchronously.
    await Promise.resolve();
    const number = this.calls.push(name);
    const isCrash = number === this.crashAt;
    // Every second one has done its work, and could not say so.
    if (!isCrash || number % 2 === 0) work();
    if (!isCrash) return;
    this.crashes += 1;
    throw new Crash();
  }

  readonly options: SyncOptions = {
    onUpsert: (key) => this.#called('upsert', () => this.keys.set(key.keyHash, key)),
    onDelete: (keyHash) => this.#called('delete', () => this.keys.delete(keyHash)),
    onUnreadable: (keyHash) => void this.unreadable.push(keyHash),
    checkpoint: {
      load: () => this.saved,
      save: (text) => this.#called('save', () => (this.saved = text)),
      keyHashes: () => this.keys.keys(),
    },
  };
}

/** A service whose keys an adapter copies. */
export class SyncedService {
  /** A test that restarts the service replaces it. */
  t: TestApp;
  /** The credential of the adapter. */
  service = '';
  #last: Promise<unknown> = Promise.resolve();

  constructor(t: TestApp) {
    this.t = t;
  }

  /** Issues a credential for the adapter. */
  async asAdapter(scopes: readonly ('read' | 'deliver')[] = ['read', 'deliver'], orgID?: string): Promise<void> {
    const options = { scopes, ...(orgID !== undefined && { orgID }) };
    this.service = (await this.t.issue('service', options)).secret;
  }

  clientOf(send: typeof fetch = (input, init) => this.t.app.fetch(new Request(input, init))) {
    return createClient({ url: 'http://keyfront.test', service: () => this.service, fetch: send });
  }

  /** Runs an adapter, again after each crash, until the work is done. */
  async whileSyncing(
    copy: Copy,
    work: () => Promise<unknown>,
    options: Partial<SyncOptions> = {},
    client = this.clientOf(),
  ): Promise<void> {
    const over = new AbortController();
    const run = async () => {
      while (!over.signal.aborted) {
        await sync(client, { ...copy.options, ...options, signal: over.signal }).catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
        });
      }
    };
    const running = run();
    try {
      await Promise.race([work(), running.then(() => Promise.reject(new Error('The adapter has ended.')))]);
    } finally {
      over.abort();
      await running;
    }
  }

  /** Waits until the copy has what an adapter would read now. */
  async untilSame(copy: Copy, orgID?: string): Promise<void> {
    const wanted = await this.#keys(orgID);
    const shown = (keys: ReadonlyMap<string, DeliveredFragment>) =>
      [...keys.values()].map(({ keyID, version, state }) => `${keyID} ${version} ${state}`).toSorted();
    await until(() => JSON.stringify(shown(copy.keys)) === JSON.stringify(shown(wanted)), 'A copy with all changes');
    expect(new Map([...copy.keys].toSorted())).toEqual(new Map([...wanted].toSorted()));
  }

  async #keys(orgID?: string): Promise<Map<string, DeliveredFragment>> {
    const keys = new Map<string, DeliveredFragment>();
    const page = await this.t.app.services.store.list({
      filter: { orgID },
      orderBy: 'KEY_HASH',
      descending: false,
      limit: 1_000,
      now: this.t.clock.now,
    });
    for (const { keyHash } of page.keys) {
      const query = `{ deliverKey(by: { keyHash: "${keyHash}" }) { keyHash keyID identifierHash
        rotation { oldKeyID oldIdentifierHash retiresAt silence } orgID version state data } }`;
      const response = await this.t.graphql(query, {}, { 'x-svc-authorization': this.service });
      keys.set(keyHash, dataOf<DeliveredFragment>(response));
    }
    return keys;
  }

  /** Makes changes and restarts of the service one at a time. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async change(field: string): Promise<Record<string, unknown>> {
    return dataOf(await this.inTurn(() => this.t.graphql(`mutation { ${field} }`)));
  }

  /** Makes one change of each kind, of the keys k1 to k4. */
  async changeEverything(): Promise<void> {
    await this.change('patchOrgKey(keyID: "k1", patch: {alias: "changed", hmacString: "another secret"}) { version }');
    await this.change('deleteOrgKey(keyID: "k2") { version }');
    await this.change('rotateOrgKey(keyID: "k3", overlap: 0) { version }');
    await this.change('deleteOrgKey(keyID: "k4") { version }');
    await this.change('restoreOrgKey(keyID: "k4") { version }');
    await this.change('rotateOrgKey(keyID: "k4") { version }');
    await this.change('createOrgKey(keyID: "k5", input: {orgID: "acme", jwtData: {secret: "new secret"}}) { version }');
  }

  /** Ends the overlaps of rotations that are over. */
  retire() {
    return retireIdentifiers(this.t.app.services, (_, error) => {
      throw error;
    });
  }
}

/** Keys with secrets, of one organization. */
export const initial = ['k1', 'k2', 'k3', 'k4'].map((name) => ({
  key_id: name,
  org_id: 'acme',
  hmac_string: `secret of ${name}`,
  basic_auth_data: { password: `password of ${name}` },
}));

/** A key that the copy has, and the service has no more. */
export const ghost = { keyHash: 'ghost', keyID: 'ghost', version: 1, state: 'ACTIVE' } as DeliveredFragment;
