import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/app.js';
import { readConfig } from '../../src/config/config.js';
import { AppError } from '../../src/lib/errors.js';
import { openServices, type Services } from '../../src/storage/open-storage.js';
import { stringifyJSON } from '../../src/lib/json.js';
import { createKeyService } from '../../src/keys/key-service.js';
import type { KeyFilter, KeyOrder } from '../../src/keys/key-query.js';
import { createLogger } from '../../src/lib/log.js';
import { startApp } from '../support/app.js';
import { createRandom, runs, seed } from '../support/generated.js';
import { damages } from './damages.js';

const images = runs('DAMAGES', 60);
const now = new Date('2026-01-31T12:00:00Z');
const caller = { credentialID: 'test', label: 'a test', orgID: undefined, requestID: 'r' };
const keyIDs = Array.from({ length: 200 }, (_, index) => `key-${index}`);
const lists: readonly [KeyOrder, KeyFilter][] = [
  ['KEY_HASH', {}],
  ['ALIAS', { orgID: 'acme' }],
  ['LAST_UPDATED', { tagsAll: ['tag-3'] }],
  ['KEY_HASH', { tagsAll: ['all'], orgID: 'globex' }],
  ['ALIAS', { aliasPrefix: 'Key 1' }],
];

let root: string;
let whole: Buffer;
let expected: Map<string, string>;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'keyfront-damages-'));
  const folder = join(root, 'whole');
  const t = await startApp({ KEYFRONT_DATA: folder });
  await t.importKeys(
    ...keyIDs.map((key_id, index) => ({
      key_id,
      org_id: index % 3 === 0 ? 'acme' : 'globex',
      alias: `Key ${index % 50}`,
      tags: [`tag-${index % 5}`, 'all'],
      quota_max: 100 + index,
      hmac_string: `secret ${index}`,
      meta_data: { notes: 'n'.repeat(index) },
    })),
  );
  for (const keyID of keyIDs.filter((_, index) => index % 4 === 0))
    await t.update(keyID, { alias: 'changed', tags: ['all'] });
  await t.close();
  whole = await readFile(join(folder, 'keyfront.db'));
  expected = await responses(await opened(folder));
});
afterAll(async () => rm(root, { recursive: true }));

function opened(folder: string): Promise<Services> {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: folder });
  return openServices(config, secrets, { now: () => now });
}

/** All results that clients can read: each key with its sealed secrets, its history, all lists. An error is its code. */
async function responses(installation: Services): Promise<Map<string, string>> {
  const keys = createKeyService(installation.ports);
  const found = new Map<string, string>();
  const note = async (query: string, read: () => Promise<unknown>) => {
    try {
      // A thread returns bytes as Uint8Array and the database as Buffer; a clone has Uint8Array alone.
      found.set(query, stringifyJSON(structuredClone((await read()) ?? null)));
    } catch (error) {
      found.set(query, error instanceof AppError ? error.code : `crash: ${String(error)}`);
    }
  };
  for (const keyID of keyIDs) {
    await note(`key ${keyID}`, () => keys.orgKey(caller, { keyID }));
    await note(`secret of ${keyID}`, async () => {
      const key = await keys.requireOrgKey(caller, keyID);
      return [
        keys.keyIDOf(key),
        installation.ports.open(key.secrets.hmacString ?? new Uint8Array(), `keys|${key.keyHash}|hmacString`),
      ];
    });
    await note(`history of ${keyID}`, async () =>
      keys.history(await keys.requireOrgKey(caller, keyID), { limit: 100 }),
    );
  }
  for (const [orderBy, filter] of lists) {
    await note(`list by ${orderBy} of ${JSON.stringify(filter)}`, async () => {
      const page = await keys.orgKeys(caller, { filter, orderBy, descending: false, limit: 1000 });
      return [...page.keys, ...(page.unreadable ?? []).map(({ error }) => error.code)];
    });
  }
  await installation.close();
  return found;
}

/**
 * Whether a response reports the damage: an error, an error of SQLite itself (which both APIs mask), or a page with the
 * errors of its damaged keys in their place and no incorrect key.
 */
function isError(query: string, response = ''): boolean {
  if (response === 'INTERNAL' || response.startsWith('crash: SqliteError: database disk image is malformed'))
    return true;
  if (!query.startsWith('list ') || !response.includes('"INTERNAL"') || unknownKeys(query, response) > 0) return false;
  return itemsOf(response).length === itemsOf(expected.get(query)).length;
}

async function damaged(index: number): Promise<{ folder: string; kind: string }> {
  const random = createRandom(seed + index);
  const [kind, damage] = random.pick(Object.entries(damages));
  const image = Buffer.from(whole);
  damage(image, random);
  const folder = join(root, 'image');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, 'keyfront.db'), image, { mode: 0o600 });
  await copyFile(join(root, 'whole', 'key-ring.json'), join(folder, 'key-ring.json'));
  return { folder, kind };
}

interface Outcome {
  /** The error of the start; undefined if it succeeded. */
  readonly startError: string | undefined;
  /** Queries whose result differs from that without the damage, and is no error. */
  readonly incorrect: string[];
  readonly errors: number;
}

/** The effects of damage on start and queries. `isVerified`: the start verifies the file; it skips files that are too large. */
async function outcomeOf(folder: string, isVerified: boolean): Promise<Outcome> {
  let installation: Services;
  try {
    const { config, secrets } = readConfig({ KEYFRONT_DATA: folder });
    const log = createLogger('silent');
    installation = isVerified
      ? (await createApp(config, secrets, log, { now: () => now })).services
      : await opened(folder);
  } catch (error) {
    return { startError: error instanceof Error ? error.message : 'no error', incorrect: [], errors: 0 };
  }
  const found = await responses(installation);
  const changed = [...expected.keys()].filter((query) => found.get(query) !== expected.get(query));
  const incorrect = changed.filter((query) => !isError(query, found.get(query)));
  return {
    startError: undefined,
    // A list may lack rows that its index has lost (which is why the start verifies files), but never contains incorrect ones.
    incorrect: isVerified ? incorrect : incorrect.filter((query) => unknownKeys(query, found.get(query)) > 0),
    errors: changed.length - incorrect.length,
  };
}

/** How many keys of a list were not in it before; everything else counts as one. */
function unknownKeys(query: string, response = ''): number {
  if (!query.startsWith('list ')) return 1;
  const known = new Set(itemsOf(expected.get(query)));
  return itemsOf(response).filter((item) => item !== '"INTERNAL"' && !known.has(item)).length;
}

/** The keys of a page, and the codes of the keys that cannot be read, as JSON. */
function itemsOf(page = '[]'): string[] {
  return (JSON.parse(page) as unknown[]).map((item) => JSON.stringify(item));
}

describe('D-08 a damaged database', () => {
  it(
    `is rejected in one line that names the file, or returns only what was written, in ${images} images`,
    async () => {
      const count = { rejected: 0, withErrors: 0, untouched: 0, rejectedUnchecked: 0, withErrorsUnchecked: 0 };
      for (let index = 0; index < images; index += 1) {
        const { folder, kind } = await damaged(index);
        const label = `${kind}, FUZZ_SEED=${seed + index}`;
        const { startError, incorrect, errors } = await outcomeOf(folder, true);
        expect(incorrect, label).toStrictEqual([]);
        if (startError === undefined) {
          count[errors > 0 ? 'withErrors' : 'untouched'] += 1;
          continue;
        }
        count.rejected += 1;
        expect(startError, label).toMatch(/^The (database|key ring) [^\n]*$/);
        expect(startError, label).toContain(join(folder, 'keyfront.db'));
        const unseen = await outcomeOf(folder, false);
        expect(unseen.incorrect, `not looked through: ${label}`).toStrictEqual([]);
        if (unseen.startError !== undefined) count.rejectedUnchecked += 1;
        else if (unseen.errors > 0) count.withErrorsUnchecked += 1;
      }
      // Which proves that the damages reach what is looked through, and rows as well.
      expect(count.rejected > 0 && count.withErrors + count.withErrorsUnchecked > 0, JSON.stringify(count)).toBe(true);
    },
    60_000 + images * 10_000,
  );
});
