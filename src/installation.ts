import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Config, ConfigSecrets } from './config.js';
import type { CredentialStore } from './credential.js';
import type { Ports } from './keys/ports.js';
import type { KeyStore } from './keys/store.js';
import { createKeyHash } from './secrets/key-hash.js';
import { createKeyRingFile, createMemoryKeyRing, followKeyRing, type KeyRing } from './secrets/key-ring.js';
import { createPasswordHasher } from './secrets/passwords.js';
import { createSealer, type Sealer } from './secrets/seal.js';
import { createCredentialStore } from './storage/sqlite/credential-store.js';
import { openDatabase } from './storage/sqlite/database.js';
import { createKeyStore } from './storage/sqlite/key-store.js';
import { createProbe } from './storage/sqlite/probe.js';
import { createSettings, type Settings } from './storage/sqlite/settings.js';

/** What tests put in the place of the world's own. */
export interface Overrides {
  readonly now?: () => Date;
  readonly randomHex?: () => string;
}

/** A data folder that is open: what the server and the command line both stand on. */
export interface Installation {
  readonly ports: Ports;
  readonly store: KeyStore;
  readonly credentials: CredentialStore;
  readonly sealer: Sealer;
  readonly now: () => Date;
  /** Whether nobody has been here before: there is no credential yet. */
  readonly isNew: () => Promise<boolean>;
  /** What keeps it from being used, as words for a log; undefined where a change has just been written. */
  readonly whyNotReady: () => string | undefined;
  /** What the database itself finds wrong with its file. */
  readonly damages: () => string[];
  /** Seals the ring's own check word under the active key, as the last step of a rotation. */
  readonly resealCheck: () => void;
  readonly close: () => void;
}

const ringPlace = 'settings|key_ring';

/**
 * Opens the data folder, making what a new one lacks. Throws an Error in words for people where the folder does not fit
 * the settings or its key ring is missing or another; nothing has been overwritten then.
 */
export function openInstallation(config: Config, secrets: ConfigSecrets, overrides: Overrides = {}): Installation {
  const now = overrides.now ?? (() => new Date());
  const database = openDatabase(config.databaseFile);
  try {
    const settings = createSettings(database);
    const store = createKeyStore(database);
    const sealer = createSealer(openKeyRing(config, settings, now()));
    requireSameKeyRing(config, settings, sealer);
    const hasKeys = database.prepare('SELECT 1 FROM keys LIMIT 1').get() !== undefined;
    requireSameKeyHash(config, secrets, settings, hasKeys);
    const credentials = createCredentialStore(database);
    const passwords = createPasswordHasher();
    const probe = createProbe(database, config.databaseFile, now);
    const ports: Ports = {
      store,
      quotas: store,
      now,
      hashKeyID: createKeyHash(config.keyHash, secrets.keyHashPepper),
      randomHex: overrides.randomHex ?? (() => randomBytes(16).toString('hex')),
      hashPassword: (password, type) => passwords.hash(password, type),
      seal: (plaintext, place) => sealer.seal(plaintext, place),
      open: (sealed, place) => sealer.open(sealed, place),
      restoreWindowMs: config.restoreWindowMs,
    };
    return {
      ports,
      store,
      credentials,
      sealer,
      now,
      isNew: async () => (await credentials.list()).length === 0,
      whyNotReady: () => probe() ?? (hasItsKeyRing(settings, sealer) ? undefined : 'the key ring opens nothing'),
      damages: () => {
        const found = database.pragma('integrity_check') as { integrity_check: string }[];
        return found.map((row) => row.integrity_check).filter((line) => line !== 'ok');
      },
      resealCheck: () => settings.set('key_ring', sealedCheck(sealer)),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function openKeyRing({ databaseFile, keyRingFile }: Config, settings: Settings, now: Date): () => KeyRing {
  if (databaseFile === ':memory:') {
    const ring = createMemoryKeyRing(now);
    return () => ring;
  }
  if (!existsSync(keyRingFile)) {
    if (settings.get('key_ring') !== undefined) {
      throw new Error(
        `The key ring ${keyRingFile} does not exist, and the database ${databaseFile} needs the one it was written with.`,
      );
    }
    createKeyRingFile(keyRingFile, now);
  }
  return followKeyRing(keyRingFile);
}

/** The database holds a word sealed by its ring. Another ring cannot open it, and must not add secrets of its own. */
function requireSameKeyRing({ databaseFile, keyRingFile }: Config, settings: Settings, sealer: Sealer): void {
  const sealed = settings.get('key_ring');
  if (sealed === undefined) {
    settings.set('key_ring', sealedCheck(sealer));
    return;
  }
  try {
    sealer.open(Buffer.from(sealed, 'base64'), ringPlace);
  } catch (cause) {
    throw new Error(`The key ring ${keyRingFile} is not the one that the database ${databaseFile} was written with.`, {
      cause,
    });
  }
}

function hasItsKeyRing(settings: Settings, sealer: Sealer): boolean {
  try {
    return sealer.open(Buffer.from(settings.get('key_ring') ?? '', 'base64'), ringPlace) === 'keyfront';
  } catch {
    return false;
  }
}

function sealedCheck(sealer: Sealer): string {
  return Buffer.from(sealer.seal('keyfront', ringPlace)).toString('base64');
}

/** Keys are found by their hash, so that another way of hashing would lose them all without a word. */
function requireSameKeyHash(
  { keyHash }: Config,
  { keyHashPepper }: ConfigSecrets,
  settings: Settings,
  hasKeys: boolean,
): void {
  const pepper =
    keyHash === 'hmac-sha256'
      ? ` ${createHmac('sha256', keyHashPepper ?? '')
          .update('keyfront')
          .digest('hex')}`
      : '';
  const wanted = `${keyHash}${pepper}`;
  const found = settings.get('key_hash');
  if (found === wanted) return;
  if (found !== undefined && hasKeys) {
    const [algorithm] = found.split(' ');
    const what = algorithm === keyHash ? 'another KEYFRONT_KEY_HASH_PEPPER' : `KEYFRONT_KEY_HASH=${algorithm}`;
    throw new Error(
      `The keys of this database were hashed with ${what}. Start with that setting; or, to change it, write the keys out with ` +
        '`keyfront keys export --with-secrets`, and import them with the new setting into a new KEYFRONT_DATA folder.',
    );
  }
  settings.set('key_hash', wanted);
}
