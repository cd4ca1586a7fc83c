import type { Config } from '../../config/config.js';
import { AppError, codeOf } from '../../lib/errors.js';
import type { Services } from '../../storage/open-storage.js';
import { aadFor } from '../../keys/commands/protect-secrets.js';
import type { StoredKey } from '../../keys/key.js';
import type { ScannedKey } from '../../keys/ports.js';
import { resealWebhook, sealedValuesOf } from '../../webhooks/manage.js';
import { addKey, dropInactiveKeys, loadKeyRing } from '../../crypto/key-ring.js';
import { createDamagedKeyReport, damagedAdvice, damagedExitCode } from './damaged-keys.js';
import type { IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { createProgressLine } from '../output/progress.js';

/**
 * Adds a fresh key to the ring and seals everything under it; an earlier rotation that is incomplete is continued with its
 * key. May be interrupted and run again; services may run meanwhile.
 */
export async function rotate(io: IO): Promise<number> {
  return withServices(io, { access: 'write' }, async (installation, { config }) => {
    await requireIntactWebhooks(installation);
    const activeID = await activeKeyFor(installation, config);
    const progress = createProgressLine(io, 'keys');
    const damaged = createDamagedKeyReport(io);
    const { keys: all } = await installation.contents();
    let count = 0;
    for await (const page of pagesOf(installation.store.all())) {
      await Promise.all(page.map((scanned) => reseal(installation, scanned, activeID, damaged.skip)));
      count += page.length;
      progress.show(count, count / all);
    }
    const isCurrent = (sealed: Uint8Array) => installation.sealer.keyIDOf(sealed) === activeID;
    for (const { id } of await installation.webhooks.list()) {
      await installation.webhooks.change(id, (found) => resealWebhook(found, installation.sealer, isCurrent));
    }
    // Every row is signed too; those without a secret, such as a history, were not written by the above.
    const left = await installation.signatures.renew(() => progress.show((count += 1)));
    progress.end();
    if (left > 0 || damaged.count() > 0) {
      io.stderr(`Everything else is sealed under the key ${activeID} now; ${skipped(left, damaged.count())}\n`);
      return damagedExitCode;
    }
    await installation.resealWord();
    io.stderr(
      `Everything is sealed under the key ${activeID} now. Older keys stay in the ring until \`keyfront secrets prune\`.\n`,
    );
    return 0;
  });
}

/** Drops the keys that nothing intact is sealed under any more. Rejects when something is. */
export async function prune(io: IO): Promise<number> {
  return withServices(io, { access: 'write' }, async (installation, { config }) => {
    await requireIntactWebhooks(installation);
    const { activeID, ids } = loadKeyRing(config.keyRingFile);
    const damaged = createDamagedKeyReport(io);
    for await (const { keyHash, key } of installation.store.all()) {
      if (!key) damaged.skip(keyHash);
      else if (isSealedUnderOlder(installation, key, activeID, damaged.skip)) throw stillInUse();
    }
    for (const webhook of await installation.webhooks.list()) {
      if (sealedValuesOf(webhook).some(({ sealed }) => installation.sealer.keyIDOf(sealed) !== activeID)) {
        throw stillInUse();
      }
    }
    const older = await installation.signatures.older();
    if (older.hasValid) throw stillInUse();
    // A rotation that was interrupted at its end, or skipped damaged rows, has left the key check value behind.
    await installation.resealWord();
    dropInactiveKeys(config.keyRingFile);
    io.stderr(`${ids.length - 1} older keys were dropped; ${activeID} stays.\n`);
    if (older.damaged === 0 && damaged.count() === 0) return 0;
    io.stderr(`${skipped(older.damaged, damaged.count())}\n`);
    return damagedExitCode;
  });
}

const pageSize = 100;

async function* pagesOf(all: AsyncIterable<ScannedKey>): AsyncIterable<readonly ScannedKey[]> {
  let page: ScannedKey[] = [];
  for await (const scanned of all) {
    page.push(scanned);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  yield page;
}

/** The key of an incomplete rotation, else a fresh one: each retry would add one otherwise. */
async function activeKeyFor({ isRotated, now }: Services, { keyRingFile }: Config): Promise<string> {
  const { activeID } = loadKeyRing(keyRingFile);
  return (await isRotated(activeID)) ? addKey(keyRingFile, now()).activeID : activeID;
}

/** Changes of one page are asked for together, so that storage commits them together. */
async function reseal(
  installation: Services,
  { keyHash, key }: ScannedKey,
  activeID: string,
  skip: (keyHash: string, reason?: string) => void,
): Promise<void> {
  if (!key) return skip(keyHash);
  try {
    await installation.store.reseal(keyHash, (stored) => resealed(installation, stored, activeID));
  } catch (error) {
    // Storage that is unavailable concerns all keys, an error of reading or opening this one only.
    if (codeOf(error) !== 'INTERNAL') throw error;
    skip(keyHash, error instanceof AppError ? error.message : 'its secrets cannot be opened');
  }
}

/** A damaged webhook can be removed by its id, so that nothing needs to be skipped. */
async function requireIntactWebhooks({ webhooks }: Services): Promise<void> {
  const damaged = await webhooks.damaged();
  if (damaged.length === 0) return;
  throw new Error(
    `These webhooks fail the integrity check: ${damaged.join(', ')}. Remove each with \`keyfront webhooks remove ID\` first.`,
  );
}

function isSealedUnderOlder(
  { sealer }: Services,
  key: StoredKey,
  activeID: string,
  skip: (keyHash: string, reason: string) => void,
): boolean {
  const older = sealedOf(key).filter(({ sealed }) => sealer.keyIDOf(sealed) !== activeID);
  try {
    for (const { sealed, secret } of older) sealer.open(sealed, aadFor(key.keyHash, secret));
    return older.length > 0;
  } catch {
    skip(key.keyHash, 'its secrets cannot be opened');
    return false;
  }
}

function skipped(rows: number, keys: number): string {
  return `${rows} rows fail the integrity check, and ${keys} keys were skipped. ${damagedAdvice}`;
}

function stillInUse(): Error {
  return new Error('Something is still sealed under an older key. Run `keyfront secrets rotate` first.');
}

function sealedOf({ sealedKeyID, secrets: { jwtSecret, hmacString } }: StoredKey) {
  const all = [
    { sealed: sealedKeyID, secret: 'keyID' },
    { sealed: jwtSecret, secret: 'jwtSecret' },
    { sealed: hmacString, secret: 'hmacString' },
  ] as const;
  return all.flatMap(({ sealed, secret }) => (sealed === undefined ? [] : [{ sealed, secret }]));
}

function resealed({ sealer }: Services, key: StoredKey, activeID: string): StoredKey {
  const again = (sealed: Uint8Array, secret: 'keyID' | 'jwtSecret' | 'hmacString') => {
    if (sealer.keyIDOf(sealed) === activeID) return sealed;
    const place = aadFor(key.keyHash, secret);
    return sealer.seal(sealer.open(sealed, place), place);
  };
  const { jwtSecret, hmacString } = key.secrets;
  return {
    ...key,
    sealedKeyID: again(key.sealedKeyID, 'keyID'),
    secrets: {
      ...key.secrets,
      jwtSecret: jwtSecret && again(jwtSecret, 'jwtSecret'),
      hmacString: hmacString && again(hmacString, 'hmacString'),
    },
  };
}
