import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJSON } from '../../lib/json.js';
import { openRegularFile } from '../input/open-file.js';

/** Name of the database file in a backup. */
export const databaseCopyName = 'keyfront.db';

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
export type Manifest = z.infer<typeof Manifest>;

/** Writes the manifest to the disk. */
export function writeManifest(folder: string, manifest: Manifest): void {
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
export function readManifest(folder: string): Manifest {
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
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Computes the digest of a file; if `copyPath` is given, also copies the file there and syncs the copy. */
export function digestFile(path: string, copyPath?: string): FileDigest {
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
export function describeNewestChange({ newestChange }: Pick<Manifest, 'newestChange'>): string {
  if (!newestChange) return 'It contains no key changes.';
  const { at, keyHash, version } = newestChange;
  return `Its newest change is version ${version} of ${keyHash}, made at ${at}.`;
}
