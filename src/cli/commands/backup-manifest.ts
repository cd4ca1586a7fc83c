import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJSON } from '../../lib/json.js';

/** The one file of a backup beside its manifest. */
export const databaseCopyName = 'keyfront.db';

const manifestName = 'manifest.json';
const chunkBytes = 1024 * 1024;

/** What a backup says of itself. It is written last: a folder without it is no backup. */
const Manifest = z.object({
  created: z.iso.datetime(),
  schemaVersion: z.int(),
  keys: z.int(),
  newestChange: z.object({ at: z.iso.datetime(), keyHash: z.string(), version: z.int() }).optional(),
  /** Ids of the keys in the ring that it was made with, without which nothing in it opens. */
  keyRing: z.array(z.string()),
  bytes: z.int(),
  sha256: z.string(),
});
export type Manifest = z.infer<typeof Manifest>;

export function writeManifest(folder: string, manifest: Manifest): void {
  const file = openSync(join(folder, manifestName), 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Throws an Error in words for people where the folder holds no backup. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, manifestName);
  try {
    return Manifest.parse(parseJSON(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new Error(`${folder} holds no backup that is whole: ${path} is missing or unreadable.`, { cause });
  }
}

export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads a file through; where `into` names a file, what was read is written there, and through to the disk. */
export function digestFile(from: string, into?: string): Digest {
  const source = openSync(from, 'r');
  const target = into === undefined ? undefined : openSync(into, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(chunkBytes);
    let bytes = 0;
    for (let read = 1; read > 0;) {
      read = readSync(source, chunk);
      hash.update(chunk.subarray(0, read));
      for (let written = 0; target !== undefined && written < read;) {
        written += writeSync(target, chunk, written, read - written);
      }
      bytes += read;
    }
    if (target !== undefined) fsyncSync(target);
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    closeSync(source);
    if (target !== undefined) closeSync(target);
  }
}

/** How far a database goes, for people. */
export function describeNewestChange({ newestChange }: Pick<Manifest, 'newestChange'>): string {
  if (!newestChange) return 'No key has been changed in it.';
  const { at, keyHash, version } = newestChange;
  return `The newest change in it is of ${at}, to version ${version} of ${keyHash}.`;
}
