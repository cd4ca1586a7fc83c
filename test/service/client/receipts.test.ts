import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createClient,
  createCopyDigest,
  sync,
  type DeliveredFragment,
  type SyncOptions,
} from '../../../src/client/client.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';
import { temporaryFolder } from '../../support/folder.js';
import { dataOf } from '../../support/responses.js';
import { tamper } from '../../support/tamper.js';
import { timersDueWithin, until } from '../../support/until.js';

let t: TestApp;
let service: string;
let saved: string | undefined;
let copy: Map<string, DeliveredFragment>;
/** Resolves what the gateway waits for. */
let apply: () => Promise<void>;
let sent: { cursor: string | null; digest: string | null }[];

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

beforeEach(() => {
  saved = undefined;
  copy = new Map();
  apply = () => Promise.resolve();
  sent = [];
});

async function use(app: TestApp): Promise<void> {
  t = app;
  service = (await t.issue('service', { scopes: ['read', 'deliver'] })).secret;
  await t.importKeys({ key_id: 'k1', org_id: 'acme', hmac_string: 'secret' }, { key_id: 'k2', org_id: 'acme' });
}

/** Runs an adapter of the gateway edge-1 until the work is done. */
async function whileSyncing(work: () => Promise<unknown>, options: Partial<SyncOptions> = {}): Promise<void> {
  const over = new AbortController();
  const digest = createCopyDigest(sha256);
  for (const { keyHash, version } of copy.values()) digest.put(keyHash, version);
  const client = createClient({
    url: 'http://keyfront.test',
    service: () => service,
    fetch: (input, init) => {
      const { query = '', variables } = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as {
        query?: string;
        variables?: (typeof sent)[number];
      };
      if (query.includes('acknowledgeChanges') && variables) sent.push(variables);
      return t.app.fetch(new Request(input, init));
    },
  });
  const running = sync(client, {
    onUpsert: (key) => {
      copy.set(key.keyHash, key);
      digest.put(key.keyHash, key.version);
    },
    onDelete: (keyHash) => {
      copy.delete(keyHash);
      digest.remove(keyHash);
    },
    checkpoint: { load: () => saved, save: (text) => void (saved = text), keyHashes: () => copy.keys() },
    gateway: { name: 'edge-1', digest: digest.value, whenApplied: () => apply() },
    ...options,
    signal: over.signal,
  });
  try {
    await Promise.race([work(), running.then(() => Promise.reject(new Error('The adapter has ended.')))]);
  } finally {
    over.abort();
    await running.catch(() => undefined);
  }
}

async function isCurrent(keyID: string): Promise<boolean | undefined> {
  const query = `query ($id: ID!) { orgKey(by: { keyID: $id }, includeDeleted: true) {
    deployments { edges { node { isCurrent } } } } }`;
  const key = dataOf<{ deployments: { edges: { node: { isCurrent: boolean } }[] } }>(
    await t.graphql(query, { id: keyID }),
  );
  return key.deployments.edges[0]?.node.isCurrent;
}
const untilCurrent = (keyID: string) => until(async () => (await isCurrent(keyID)) === true, `${keyID} at the gateway`);
const remove = async (keyID: string) =>
  dataOf(await t.graphql('mutation ($id: ID!) { deleteOrgKey(keyID: $id) { version } }', { id: keyID }));

describe('the receipts of sync', () => {
  it('are sent after the snapshot and after changes, with the digest that the service computes', async () => {
    await use(await startOwnApp());
    await whileSyncing(async () => {
      await untilCurrent('k1');
      await remove('k1');
      await untilCurrent('k1');
      expect(copy.has(hashOf('k1'))).toBe(false);
    });
    expect(sent[0]).toMatchObject({ cursor: null, digest: null });
    const { cursor, digest } = sent.at(-1) ?? {};
    const query = 'query ($cursor: String!) { keyDigest(cursor: $cursor) { digest keys } }';
    expect(dataOf(await t.graphql(query, { cursor }))).toEqual({ digest, keys: 1 });
  });

  it('continue after a restart at the checkpoint, and begin anew without one', async () => {
    await use(await startOwnApp());
    await whileSyncing(() => untilCurrent('k1'));
    sent = [];
    await remove('k2');
    await whileSyncing(() => untilCurrent('k2'));
    expect(sent.filter(({ cursor }) => cursor === null)).toEqual([]);
    saved = undefined;
    apply = () => new Promise(() => undefined);
    await whileSyncing(() => until(async () => (await isCurrent('k1')) === false, 'The loss of the copy'));
    apply = () => Promise.resolve();
    // Another database: the service does not know the cursor.
    await whileSyncing(() => untilCurrent('k1'));
    saved = JSON.stringify({
      ...(JSON.parse(saved ?? '') as object),
      cursor: Buffer.from('1.99.').toString('base64url'),
    });
    sent = [];
    await whileSyncing(() => untilCurrent('k1'));
    await until(() => sent.length > 0);
    expect(sent[0]?.cursor).toBeNull();
  });

  it('wait until the gateway uses the copy', async () => {
    await use(await startOwnApp());
    let go = () => undefined as void;
    await whileSyncing(async () => {
      await untilCurrent('k1');
      apply = () => new Promise((resolve) => (go = resolve));
      await remove('k1');
      await until(() => !copy.has(hashOf('k1')));
      await timersDueWithin(600);
      expect(await isCurrent('k1')).toBe(false);
      apply = () => Promise.resolve();
      await until(async () => {
        go();
        return (await isCurrent('k1')) === true;
      });
    });
  });

  it('stop at a key that cannot be read, of which the copy may be older, also after a restart', async () => {
    const folder = await temporaryFolder();
    await use(await startOwnApp({ KEYFRONT_DATA: folder }));
    await whileSyncing(() => untilCurrent('k1'));
    dataOf(await t.graphql('mutation { patchOrgKey(keyID: "k1", patch: { alias: "x" }) { version } }'));
    tamper(`${folder}/keyfront.db`, `UPDATE keys SET hmac_string = x'00' WHERE key_hash = x'${hashOf('k1')}'`);
    let unreadable = 0;
    const onUnreadable = () => void (unreadable += 1);
    await whileSyncing(() => until(() => unreadable > 0), { onUnreadable });
    sent = [];
    await remove('k2');
    await whileSyncing(
      async () => {
        await until(() => !copy.has(hashOf('k2')));
        await timersDueWithin(600);
      },
      { onUnreadable },
    );
    expect(sent).toEqual([]);
    expect(await isCurrent('k2')).toBe(false);
  });

  it('end the adapter if the service rejects them for good', async () => {
    await use(await startOwnApp());
    const failing = whileSyncing(() => new Promise(() => undefined), { gateway: { name: 'not valid' } });
    await expect(failing).rejects.toMatchObject({ code: 'INVALID' });
  });
});
