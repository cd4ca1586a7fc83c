import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config, ConfigSecrets } from '../config/config.js';
import { whyNotTrusted } from '../credentials/credential.js';
import type { Ports, KeyStore } from '../keys/ports.js';
import { createQuotaNotices } from '../keys/quota-notices.js';
import type { QuotaOutbox } from '../keys/quota/external-counters.js';
import type { Logger } from '../lib/log.js';
import { createScheduler, type Scheduler } from '../lib/scheduler.js';
import type { Telemetry } from '../telemetry/ports.js';
import { withChecksum } from '../crypto/checksum.js';
import { createKeyHash, keyHashAlgorithms } from '../crypto/key-hash.js';
import {
  createKeyRingFile,
  createMemoryKeyRing,
  followKeyRing,
  loadKeyRing,
  type KeyRing,
} from '../crypto/key-ring.js';
import { createPasswordHasher } from '../crypto/password-hash.js';
import { createKeyRingCheck, keyRingCheckName, type KeyRingCheck } from '../crypto/key-ring-check.js';
import { createSealer, type Sealer } from '../crypto/encryption.js';
import { randomBytesOf } from '../crypto/random.js';
import { createRowSigner } from '../crypto/row-signer.js';
import {
  InstallationNotFoundError,
  isNew,
  type Access,
  type Storage,
  type DatabaseHandle,
  type Settings,
  type RunExclusive,
} from './storage.js';
import { createRingReports, type RingReports } from './ring-reports.js';
import type { OpenQuotas } from './redis/open.js';
import { openStorage } from './open-engine.js';
import { createReceiptCodec } from './sql/keys/receipts.js';
import { createRequestCodec } from './sql/proposal-requests.js';
import { makePrivateFolder } from './sqlite/files.js';

/** Replaces the clock, the random source and the scheduler in tests. Workers set `runExclusive`. */
export interface ServiceOverrides {
  readonly now?: () => Date;
  readonly randomHex?: () => string;
  readonly scheduler?: Scheduler;
  /** Keeps the processes that share the database from writing at once. Its own locks do too, but are not fair. */
  readonly runExclusive?: RunExclusive;
}

/** How to open an installation. */
export interface OpenOptions {
  /** Default: `write`. */
  readonly access?: Access;
  /** Whether to connect to live counters that are kept in Redis. Default: false. */
  readonly liveQuotas?: boolean;
  /** Permits writing to a file that `migrate-store` has copied to a database server. */
  readonly allowMigrated?: boolean;
  /** Permits a new installation where one seems to be lost: beside a database file of the data folder, or for a key ring. */
  readonly allowNew?: boolean;
  /** Receives lines for the operator: migrations, a full disk. */
  readonly report?: (line: string) => void;
  readonly telemetry?: Telemetry;
}

/** An open installation, as used by the server and the command line. */
export interface Services extends Omit<Storage, 'settings' | 'store'> {
  readonly ports: Ports;
  /** Without the live counters, which may be in Redis: see `ports.externalCounters`. */
  readonly store: KeyStore & QuotaOutbox;
  readonly sealer: Sealer;
  /** Admits the requests of this process, and divides the time of its event loop among them. */
  readonly scheduler: Scheduler;
  readonly now: () => Date;
  /** Whether the installation is new: it has no credential yet. */
  readonly isNew: () => Promise<boolean>;
  /** Why the service is not ready, for the log; undefined when a change has just been written. */
  readonly whyNotReady: () => Promise<string | undefined>;
  /** Seals the key check value under the active key, as the last step of a rotation. */
  readonly resealKeyRingCheck: () => Promise<void>;
  /** Whether everything that could be sealed anew is under the active key: the last rotation ran to its end. */
  readonly isRotated: (primaryID: string) => Promise<boolean>;
  readonly ringReports: RingReports;
  /** Applies pending changes of counters in Redis. Undefined if they are in the database, or were not opened. */
  readonly relayPending: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly close: () => Promise<void>;
}

/**
 * Opens the data folder or the database server that is set, as far as `access` permits.
 *
 * @throws {InstallationNotFoundError} when there is none and it may not be created.
 * @throws {Error} when it does not match the settings, or its key ring is missing or another. Nothing is overwritten.
 */
export async function openServices(
  config: Config,
  secrets: ConfigSecrets,
  overrides: ServiceOverrides = {},
  opening: OpenOptions = {},
): Promise<Services> {
  const { access = 'write', liveQuotas = false, report = () => undefined, telemetry = {} } = opening;
  const { allowMigrated = false, allowNew = false } = opening;
  const now = overrides.now ?? (() => new Date());
  const { databaseFile, keyRingFile, cacheMiB } = config;
  const location = { databaseFile, keyRingFile, cacheMiB, databaseURL: secrets.databaseURL };
  const opened = await openStorage(location, { access, allowMigrated, allowNew });
  try {
    const isFirstStart = await isNew(opened);
    if (isFirstStart && access !== 'create') throw unfinished(opened);
    const ring = openKeyRing(config, opened.name, isFirstStart, { at: now(), report });
    const sealer = createSealer(ring);
    const signer = createRowSigner(ring);
    const keyRingCheck = createKeyRingCheck(sealer);
    await requireSameRing(config, opened, keyRingCheck);
    await requireSameKeyHash(config, secrets, opened, access);
    const scheduler = overrides.scheduler ?? createScheduler();
    const storage = await opened.start(signer, {
      report,
      now,
      telemetry,
      runExclusive: overrides.runExclusive,
      slices: scheduler,
    });
    const { settings, ...engine } = storage;
    const { store, feed, credentials, policies, proposals, uses, gateways } = engine;
    await beginHeads(storage, keyRingCheck, opened, access);
    let live: OpenQuotas | undefined;
    if (liveQuotas && secrets.quotaURL !== undefined) {
      // Loaded on demand: other installations do not need the client.
      const { openRedisQuotas } = await import('./redis/open.js');
      const { meter } = telemetry;
      const { quotaKeys: pattern } = config;
      live = await openRedisQuotas({ url: secrets.quotaURL, pattern, store, policies, now, report, meter });
    }
    const close = async () => {
      await live?.close();
      await opened.close();
    };
    const passwords = createPasswordHasher();
    telemetry.meter?.registerGauge('passwords_waiting', () => passwords.waiting());
    const ports: Ports = {
      store,
      externalCounters: live?.quotas,
      feed,
      policies,
      proposals,
      uses,
      gateways,
      whyNotTrusted: (credentialID) => whyNotTrusted(credentials, credentialID, now()),
      now,
      hashKeyID: createKeyHash(config.keyHash, secrets.keyHashPepper),
      randomHex: () => withChecksum(overrides.randomHex?.() ?? randomBytes(16).toString('hex')),
      newIdentity: () => randomBytesOf(16).toString('hex'),
      hashPassword: (password, type) => passwords.hash(password, type),
      seal: (plaintext, aad) => sealer.seal(plaintext, aad),
      open: (sealed, aad) => sealer.open(sealed, aad),
      proposalRequests: createRequestCodec(sealer),
      receipts: createReceiptCodec(createSealer(ring, 'derived'), ring),
      quotaNotices: createQuotaNotices(store),
      restoreWindowMs: config.restoreWindowMs,
      nextSlice: scheduler.next,
    };
    return {
      ...engine,
      ports,
      scheduler,
      sealer,
      now,
      isNew: async () => (await credentials.list()).length === 0,
      whyNotReady: async () =>
        (await engine.whyNotReady()) ??
        (keyRingCheck.isValid((await settings.get(keyRingCheckName)) ?? '')
          ? whyRingUnusable(config, opened)
          : 'the key ring does not open the key check value'),
      resealKeyRingCheck: () => settings.set(keyRingCheckName, keyRingCheck.seal(true)),
      isRotated: async (primaryID) => keyRingCheck.keyIDOf((await settings.get(keyRingCheckName)) ?? '') === primaryID,
      ringReports: createRingReports(settings, config, ring),
      relayPending: live?.relayPending,
      close,
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function unfinished({ name }: DatabaseHandle): InstallationNotFoundError {
  return new InstallationNotFoundError(
    `There is no complete installation in ${name}: its first start was interrupted. Run \`keyfront serve\`.`,
  );
}

const inMemory = ':memory:';

/** The service continues with the ring that it has read, but it could not start with this file. */
function whyRingUnusable({ keyRingFile }: Config, { name }: DatabaseHandle): string | undefined {
  if (name === inMemory) return undefined;
  try {
    loadKeyRing(keyRingFile);
    return undefined;
  } catch {
    return 'the key ring file cannot be used';
  }
}

function openKeyRing(
  { keyRingFile }: Config,
  name: string,
  isFirstStart: boolean,
  { at, report }: { readonly at: Date; readonly report: (line: string) => void },
): () => KeyRing {
  if (name === inMemory) {
    const ring = createMemoryKeyRing(at);
    return () => ring;
  }
  if (!existsSync(keyRingFile)) {
    if (!isFirstStart) {
      throw new Error(
        `The key ring ${keyRingFile} does not exist, and the database ${name} needs the one it was written with.`,
      );
    }
    // A data folder of a database server may not exist yet.
    if (!existsSync(dirname(keyRingFile))) makePrivateFolder(dirname(keyRingFile));
    createKeyRingFile(keyRingFile, at);
  }
  return followKeyRing(keyRingFile, report);
}

/**
 * Stores the key check value of a new database.
 *
 * @throws {Error} when the database was written with another ring, or has lost its key check value.
 */
async function requireSameRing(
  { keyRingFile }: Config,
  { name, hasRows, settings }: DatabaseHandle,
  keyRingCheck: KeyRingCheck,
): Promise<void> {
  const value = await settings.get(keyRingCheckName);
  if (value === undefined) {
    if (hasRows) throw new Error(`The database ${name} is damaged: the check value of its key ring is missing.`);
    await settings.set(keyRingCheckName, keyRingCheck.seal(false));
  } else if (!keyRingCheck.isValid(value)) {
    throw new Error(`The key ring ${keyRingFile} is not the one that the database ${name} was written with.`);
  }
}

/**
 * Begins the heads of an installation that has none: a new one, or one of an earlier version. The key check value states
 * that they have begun. It is sealed, so that deleting a head does not begin it again.
 *
 * @throws {InstallationNotFoundError} when the first start was interrupted before, and another is not permitted.
 */
async function beginHeads(
  { settings, credentials }: Storage,
  keyRingCheck: KeyRingCheck,
  opened: DatabaseHandle,
  access: Access,
): Promise<void> {
  if (keyRingCheck.hasHeads((await settings.get(keyRingCheckName)) ?? '')) return;
  if (!opened.hasRows && access !== 'create') throw unfinished(opened);
  if (access === 'read') return;
  await credentials.beginHead();
  await settings.set(keyRingCheckName, keyRingCheck.seal(true));
}

/** Keys are found by hash: another algorithm would find none. */
async function requireSameKeyHash(
  { keyHash }: Config,
  { keyHashPepper }: ConfigSecrets,
  { name, settings, hasKeys }: { name: string; settings: Settings; hasKeys: boolean },
  access: Access,
): Promise<void> {
  const pepper =
    keyHash === 'hmac-sha256'
      ? ` ${createHmac('sha256', keyHashPepper ?? '')
          .update('keyfront')
          .digest('hex')}`
      : '';
  const wanted = `${keyHash}${pepper}`;
  const found = await settings.get('key_hash');
  if (found === wanted) return;
  if (found !== undefined && hasKeys) {
    const [algorithm = ''] = found.split(' ');
    if (!keyHashAlgorithms.some((known) => known === algorithm)) {
      throw new Error(`The database ${name} is damaged: the setting key_hash is invalid.`);
    }
    const what = algorithm === keyHash ? 'another KEYFRONT_KEY_HASH_PEPPER' : `KEYFRONT_KEY_HASH=${algorithm}`;
    throw new Error(
      `The keys of this database were hashed with ${what}. Start with that setting; or, to change it, write the keys out with ` +
        '`keyfront keys export --with-secrets`, and import them with the new setting into a new KEYFRONT_DATA folder.',
    );
  }
  if (access !== 'read') await settings.set('key_hash', wanted);
}

/** A file of this size, with about 45,000 keys, takes half a second to check. */
const maxCheckedBytes = 64 * 1024 * 1024;

/**
 * Checks the structure of the SQLite file, which row signatures cannot show: an index may have lost a row. Closes the
 * installation when the check fails.
 *
 * @throws {Error} when the file is damaged.
 */
export async function requireWholeFile(installation: Services, { databaseFile }: Config, log: Logger): Promise<void> {
  try {
    if ((statSync(databaseFile, { throwIfNoEntry: false })?.size ?? 0) > maxCheckedBytes) {
      log.info('the database is too large to be checked at every start; `keyfront check` does it beside the service');
      return;
    }
    const [damage] = await installation.damages();
    if (damage === undefined) return;
    throw new Error(
      `The database ${databaseFile} is damaged: ${damage.trim()}. Put back a backup with \`keyfront restore\`.`,
    );
  } catch (error) {
    await installation.close();
    throw error;
  }
}

/**
 * Closes the installation when its credentials are not the newest.
 *
 * @throws {AppError} INTERNAL when their head is damaged, missing, or older than the one that the head of the keys names.
 */
export async function requireNewestCredentials({ credentials, close }: Services): Promise<void> {
  try {
    await credentials.verifyHead();
  } catch (error) {
    await close();
    throw error;
  }
}
