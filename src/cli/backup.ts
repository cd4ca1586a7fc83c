import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  readdirSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve, basename } from 'node:path';
import * as z from 'zod';
import { type Config, type ConfigSecrets, readConfig } from '../config/config.js';
import { loadKeyRing } from '../crypto/key-ring.js';
import { syncFile, syncName } from '../lib/durable-file.js';
import { parseJSON } from '../lib/json.js';
import { explainSystemError } from '../lib/system-error.js';
import { restoringFile } from '../storage/open-engine.js';
import type { Services } from '../storage/open-storage.js';
import { makePrivateFolder } from '../storage/sqlite/files.js';
import { requireIntact } from './check.js';
import { withOpen, withServices, rejectServiceURL } from './client/open.js';
import { type CLICommand, type OptionValues } from './command.js';
import { openRegularFile } from './input.js';
import type { IO } from './io.js';
import { countOf, createProgressLine, jsonOption, printJSONResult } from './output.js';

export const backupCommand: CLICommand = {
  name: 'backup',
  summary: 'Copy the database to a new folder and verify the copy',
  description:
    'Opens the storage read-only. Services may run meanwhile. The backup does not contain the key ring and cannot be decrypted without it: back up the key ring separately.',
  arguments: ['DIR'],
  options: { json: jsonOption },
  examples: ['keyfront backup /mnt/backups/2026-11-21'],
  run: backup,
};

async function backup(io: IO, options: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  const target = resolve(folder);
  return withServices(io, { access: 'read' }, async (services, { config, secrets }) => {
    const draft = createDraft(target);
    try {
      const copy = join(draft, databaseCopyName);
      const progress = createProgressLine(io, 'pages copied');
      await services.copyTo(copy, progress.show);
      progress.end();
      syncFile(copy);
      const manifest = await verifyCopy(io, services, { ...config, databaseFile: copy }, secrets);
      writeManifest(draft, manifest);
      syncName(copy);
      renameSync(draft, target);
      syncName(target);
      printJSONResult(io, options, { folder: target, ...manifest });
      io.stderr(`${countOf(manifest.keys, 'keys backed up and verified')}. ${describeNewestChange(manifest)}\n`);
      io.stderr(`This backup cannot be decrypted without the key ring. Back up ${config.keyRingFile} separately.\n`);
      return 0;
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
  });
}

/** Creates the folder of an incomplete backup. Its name differs from that of a backup, and only one process can create it. */
function createDraft(target: string): string {
  if (existsSync(target)) throw new Error(`${target} already exists. A backup needs a new folder.`);
  const draft = `${target}.incomplete`;
  try {
    mkdirSync(draft, { mode: 0o700 });
  } catch (cause) {
    throw new Error(describeDraftError(draft, cause), { cause });
  }
  return draft;
}

function describeDraftError(draft: string, cause: unknown): string {
  if (existsSync(draft)) {
    return `${draft} exists: another backup is running or was interrupted. If none is running, remove it and try again.`;
  }
  const parent = dirname(draft);
  return existsSync(parent)
    ? `Cannot create ${draft}: ${explainSystemError(cause)}.`
    : `Cannot create a backup in ${parent}: the folder does not exist. Create it, or correct the path.`;
}

/** Verifies the copy and returns its manifest. */
async function verifyCopy(io: IO, { now }: Services, config: Config, secrets: ConfigSecrets): Promise<Manifest> {
  return withOpen({ config, secrets }, { access: 'read' }, async (copy) => {
    await requireIntact(io, copy, 'No backup was made: the database is damaged.');
    const { newestChange, ...figures } = await copy.contents();
    return {
      created: now().toISOString(),
      ...figures,
      newestChange: newestChange && { ...newestChange, at: newestChange.at.toISOString() },
      keyRing: [...loadKeyRing(config.keyRingFile).ids],
      ...digestFile(config.databaseFile),
    };
  });
}

export const restoreCommand: CLICommand = {
  name: 'restore',
  summary: 'Restore a backup to an empty data folder and verify it',
  description: 'The data folder must contain the key ring and nothing else.',
  arguments: ['DIR'],
  options: { json: jsonOption },
  examples: ['KEYFRONT_DATA=/var/lib/keyfront keyfront restore /mnt/backups/2026-11-21'],
  run: restore,
};

async function restore(io: IO, options: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  rejectServiceURL(io);
  const { config, secrets } = readConfig(io.env);
  if (secrets.databaseURL !== undefined) {
    throw new Error(
      '`keyfront restore` restores a data folder, but KEYFRONT_DATABASE_URL is set. For PostgreSQL use pg_restore.',
    );
  }
  const manifest = readManifest(folder);
  requireKeyRing(config, manifest);
  const draft = restoringFile(config);
  requireEmptyFolder(config, draft);
  makePrivateFolder(dirname(config.databaseFile));
  try {
    removeDatabase(draft);
    const copied = digestFile(join(folder, databaseCopyName), draft);
    if (copied.bytes !== manifest.bytes || copied.sha256 !== manifest.sha256) {
      throw new Error(
        `The backup ${folder} is damaged: the checksum of ${databaseCopyName} does not match its manifest.`,
      );
    }
    const { keys, summary } = await verifyRestored(io, { ...config, databaseFile: draft }, secrets);
    syncFile(draft);
    // The data folder has no database until the copy is verified.
    renameSync(draft, config.databaseFile);
    syncName(config.databaseFile);
    printJSONResult(io, options, { database: config.databaseFile, keys, newestChange: manifest.newestChange });
    io.stderr(summary);
    return 0;
  } finally {
    removeDatabase(draft);
  }
}

/** Opens the copy as a service would, which migrates its schema, and verifies it. Returns the summary to print. */
async function verifyRestored(
  io: IO,
  config: Config,
  { keyHashPepper, databaseURL }: ConfigSecrets,
): Promise<{ readonly keys: number; readonly summary: string }> {
  // Without a connection to external counters: their pending changes must not be applied to an unverified copy.
  const secrets = { keyHashPepper, databaseURL, quotaURL: undefined };
  const report = (line: string) => io.stderr(`${line}\n`);
  return withOpen({ config, secrets }, { access: 'write', allowMigrated: true, report }, async (copy) => {
    const keys = await requireIntact(io, copy, 'Nothing was restored: the backup is damaged.');
    const { newestChange } = await copy.contents();
    const newest = describeNewestChange({
      newestChange: newestChange && { ...newestChange, at: newestChange.at.toISOString() },
    });
    return { keys, summary: `${countOf(keys, 'keys restored and verified')}. ${newest} Later changes are lost.\n` };
  });
}

function requireKeyRing({ keyRingFile }: Config, { keyRing }: Manifest): void {
  const requiredIDs = keyRing.join(', ');
  if (!existsSync(keyRingFile)) {
    throw new Error(
      `The backup cannot be decrypted without its key ring (${requiredIDs}). Copy the key ring to ${keyRingFile} first.`,
    );
  }
  const { ids } = loadKeyRing(keyRingFile);
  if (!keyRing.some((id) => ids.includes(id))) {
    throw new Error(`The key ring ${keyRingFile} contains none of the keys of the backup (${requiredIDs}).`);
  }
}

/** The folder may contain a key ring, and files that an earlier attempt left. */
function requireEmptyFolder({ databaseFile, keyRingFile }: Config, draft: string): void {
  const folder = dirname(databaseFile);
  if (!existsSync(folder)) return;
  const others = readdirSync(folder).filter(
    (name) => resolve(folder, name) !== resolve(keyRingFile) && !name.startsWith(basename(draft)),
  );
  if (others.length === 0) return;
  throw new Error(
    `The data folder ${folder} is not empty: it contains ${others.join(', ')}. Stop the service, move the folder away, ` +
      'copy only the key ring to a new one, and restore again.',
  );
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}

/** Name of the database file in a backup. */
const databaseCopyName = 'keyfront.db';

const manifestName = 'manifest.json';
const chunkBytes = 1024 * 1024;

/** Description of a backup. Written last: a folder without it is not a backup. */
const Manifest = z.object({
  created: z.iso.datetime(),
  schemaVersion: z.int(),
  keys: z.int(),
  newestChange: z.object({ at: z.iso.datetime(), keyHash: z.string(), version: z.int() }).optional(),
  /** IDs of the keys in the key ring at the time of the backup. */
  keyRing: z.array(z.string()),
  bytes: z.int(),
  sha256: z.string(),
});
/** The content of the manifest of a backup; see the schema of this name. */
type Manifest = z.infer<typeof Manifest>;

/** Writes the manifest to the disk. */
function writeManifest(folder: string, manifest: Manifest): void {
  const file = openSync(join(folder, manifestName), 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Reads the manifest of a backup.
 *
 * @throws {Error} if the folder is not a complete backup
 */
function readManifest(folder: string): Manifest {
  const path = join(folder, manifestName);
  let file: number | undefined;
  try {
    file = openRegularFile(path);
    return Manifest.parse(parseJSON(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new Error(`${folder} is not a complete backup: ${path} is missing, unreadable or not a regular file.`, {
      cause,
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Length and checksum of a file. */
interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Computes the digest of a file; if `copyPath` is given, also copies the file there and syncs the copy. */
function digestFile(path: string, copyPath?: string): FileDigest {
  const source = openRegularFile(path);
  const copy = copyPath === undefined ? undefined : openSync(copyPath, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(chunkBytes);
    let bytes = 0;
    for (let read = 1; read > 0;) {
      read = readSync(source, chunk);
      hash.update(chunk.subarray(0, read));
      for (let written = 0; copy !== undefined && written < read;) {
        written += writeSync(copy, chunk, written, read - written);
      }
      bytes += read;
    }
    if (copy !== undefined) fsyncSync(copy);
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    closeSync(source);
    if (copy !== undefined) closeSync(copy);
  }
}

/** Sentence about the newest change in a backup. */
function describeNewestChange({ newestChange }: Pick<Manifest, 'newestChange'>): string {
  if (!newestChange) return 'It contains no key changes.';
  const { at, keyHash, version } = newestChange;
  return `Its newest change is version ${version} of ${keyHash}, made at ${at}.`;
}
