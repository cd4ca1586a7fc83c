import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Config, ConfigSecrets } from './config.js';
import type { CredentialStore } from './credential.js';
import type { Ports } from './keys/ports.js';
import type { KeyStore } from './keys/store.js';
import { createKeyHash, keyHashAlgorithms } from './secrets/key-hash.js';
import { createKeyRingFile, createMemoryKeyRing, followKeyRing, type KeyRing } from './secrets/key-ring.js';
import { createPasswordHasher } from './secrets/passwords.js';
import { createRingWord, type RingWord } from './secrets/ring-word.js';
import { createSealer, type Sealer } from './secrets/seal.js';
import { createSigner } from './secrets/signer.js';
import { contentsOf, damagesOf, type Contents } from './storage/sqlite/contents.js';
import { copyDatabase } from './storage/sqlite/copy.js';
import { createCredentialStore } from './storage/sqlite/credential-store.js';
import { namingDatabase, openCopy, openDatabase } from './storage/sqlite/database.js';
import { createGuard } from './storage/sqlite/guard.js';
import { createKeyStore } from './storage/sqlite/key-store.js';
import { createProbe } from './storage/sqlite/probe.js';
import { createSettings, type Settings } from './storage/sqlite/settings.js';
import { createSignatures, signOldRows, type Signatures } from './storage/sqlite/signatures.js';
import { shrinkLog, type Shrinking } from './storage/sqlite/wal.js';

/** What tests put in the place of the world's own. */
export interface Overrides {
  readonly now?: () => Date;
  readonly randomHex?: () => string;
}

/** How to open a data folder. */
interface Opening {
  /** The database is a copy that stands by itself, to be read and never written. */
  readonly isCopy?: boolean;
  /** Takes what a person should know: of work that opening had to do, and of a disk that is full. */
  readonly report?: (line: string) => void;
}

/** A data folder that is open: what the server and the command line both stand on. */
export interface Installation {
  readonly ports: Ports;
  readonly store: KeyStore;
  readonly credentials: CredentialStore;
  readonly sealer: Sealer;
  readonly signatures: Signatures;
  readonly now: () => Date;
  /** Whether nobody has been here before: there is no credential yet. */
  readonly isNew: () => Promise<boolean>;
  /** What keeps it from being used, as words for a log; undefined where a change has just been written. */
  readonly whyNotReady: () => string | undefined;
  /** Resolves with the cause when storage has failed, and the process should end: a new one finds out what is there. */
  readonly failed: Promise<Error>;
  /** What the database itself finds wrong with its file. */
  readonly damages: () => string[];
  readonly contents: () => Contents;
  /** Copies the database into a new file, as it is now. Nothing else may be done meanwhile. */
  readonly copyTo: (file: string, onProgress: (pages: number) => void) => Promise<void>;
  /** Gives the disk back what a write-ahead log has taken that grew large. */
  readonly shrinkLog: () => Promise<Shrinking | undefined>;
  /** Seals the ring's own word under the active key, as the last step of a rotation. */
  readonly resealWord: () => Promise<void>;
  readonly close: () => void;
}

/**
 * Opens the data folder, making what a new one lacks. Throws an Error in words for people where the folder does not fit
 * the settings or its key ring is missing or another; nothing has been overwritten then.
 */
export function openInstallation(
  config: Config,
  secrets: ConfigSecrets,
  overrides: Overrides = {},
  { isCopy = false, report = () => undefined }: Opening = {},
): Installation {
  const now = overrides.now ?? (() => new Date());
  requireRestored(config);
  const database = (isCopy ? openCopy : openDatabase)(config.databaseFile);
  try {
    return namingDatabase(config.databaseFile, () => {
      const settings = createSettings(database);
      const has = (statement: string) => database.prepare(statement).get() !== undefined;
      const hasKeys = has('SELECT 1 FROM keys LIMIT 1');
      const hasRows = hasKeys || has('SELECT 1 FROM credentials LIMIT 1');
      const ring = openKeyRing(config, hasRows, now());
      const sealer = createSealer(ring);
      const signer = createSigner(ring);
      const ringWord = createRingWord(settings, sealer);
      if (!isSigned(config, ringWord, hasRows)) {
        for (const keyHash of signOldRows(database, signer, reportEvery(10_000, report))) {
          report(`The key ${keyHash} is not what its history says. It was left unsigned, and is not answered with.`);
        }
        ringWord.write(true);
      }
      requireSameKeyHash(config, secrets, settings, hasKeys);
      const guard = createGuard(database, report);
      const store = createKeyStore(database, signer, guard);
      const credentials = createCredentialStore(database, signer, guard);
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
        signatures: createSignatures(database, signer, guard),
        now,
        isNew: async () => (await credentials.list()).length === 0,
        whyNotReady: () => {
          if (!guard.isWritable()) return 'storage takes no writes';
          return probe() ?? (hasItsKeyRing(ringWord) ? undefined : 'the key ring opens nothing');
        },
        failed: guard.failed,
        damages: () => namingDatabase(config.databaseFile, () => damagesOf(database)),
        contents: () => contentsOf(database),
        copyTo: (file, onProgress) => copyDatabase(database, file, onProgress),
        shrinkLog: () => guard.read(() => shrinkLog(database)),
        resealWord: () => guard.write(() => ringWord.write(true)),
        close: () => database.close(),
      };
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What a restore works on, beside the database that it becomes. */
export function restoringFile({ databaseFile }: Config): string {
  return `${databaseFile}.restoring`;
}

/** A folder that a backup was to be put into must not become a new installation. */
function requireRestored(config: Config): void {
  if (existsSync(config.databaseFile) || !existsSync(restoringFile(config))) return;
  throw new Error(`A restore into ${config.databaseFile} was cut short. Run \`keyfront restore\` again.`);
}

function openKeyRing({ databaseFile, keyRingFile }: Config, isInUse: boolean, now: Date): () => KeyRing {
  if (databaseFile === ':memory:') {
    const ring = createMemoryKeyRing(now);
    return () => ring;
  }
  if (!existsSync(keyRingFile)) {
    if (isInUse) {
      throw new Error(
        `The key ring ${keyRingFile} does not exist, and the database ${databaseFile} needs the one it was written with.`,
      );
    }
    createKeyRingFile(keyRingFile, now);
  }
  return followKeyRing(keyRingFile);
}

/**
 * Whether every row of the database has a signature. Throws where its word is not one of this ring, which could open
 * nothing and must not add anything of its own.
 */
function isSigned({ databaseFile, keyRingFile }: Config, ringWord: RingWord, hasRows: boolean): boolean {
  if (!ringWord.isThere()) {
    // Without the word nothing tells rows that are merely old from rows that somebody has put there.
    if (hasRows) throw new Error(`The database ${databaseFile} is damaged: it has lost the word of its key ring.`);
    return false;
  }
  try {
    return ringWord.saysAllSigned();
  } catch (cause) {
    throw new Error(`The key ring ${keyRingFile} is not the one that the database ${databaseFile} was written with.`, {
      cause,
    });
  }
}

function hasItsKeyRing(ringWord: RingWord): boolean {
  try {
    return ringWord.saysAllSigned();
  } catch {
    return false;
  }
}

function reportEvery(step: number, report: (line: string) => void): (keys: number) => void {
  let next = step;
  return (keys) => {
    if (keys < next) return;
    next = keys + step;
    report(`${keys} keys signed, which is done once.`);
  };
}

/** Keys are found by their hash, so that another way of hashing would lose them all without a word. */
function requireSameKeyHash(
  { keyHash, databaseFile }: Config,
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
    const [algorithm = ''] = found.split(' ');
    if (!keyHashAlgorithms.some((known) => known === algorithm)) {
      throw new Error(`The database ${databaseFile} is damaged: it does not say how its keys were hashed.`);
    }
    const what = algorithm === keyHash ? 'another KEYFRONT_KEY_HASH_PEPPER' : `KEYFRONT_KEY_HASH=${algorithm}`;
    throw new Error(
      `The keys of this database were hashed with ${what}. Start with that setting; or, to change it, write the keys out with ` +
        '`keyfront keys export --with-secrets`, and import them with the new setting into a new KEYFRONT_DATA folder.',
    );
  }
  settings.set('key_hash', wanted);
}
