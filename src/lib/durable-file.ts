import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname } from 'node:path';

const ownerOnly = 0o600;

/**
 * Creates a file of mode 0600. After a crash it is complete or absent.
 *
 * @throws {Error} of the operating system, with the code EEXIST when the file exists.
 */
export function createDurableFile(path: string, content: string): void {
  const draft = `${path}.${randomUUID()}.new`;
  writeDraft(draft, () => content);
  try {
    // A rename would replace a file that another process has just created; a link fails.
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncName(path);
}

/**
 * Replaces a file by one of mode 0600; after a crash the path has either the old or the new file. Calls `content` while
 * the draft `<path>.new` exists, so that changes by several processes cannot overlap.
 *
 * @throws {Error} of the operating system, with the code EEXIST when the draft exists.
 */
export function replaceDurableFile(path: string, content: () => string): void {
  // Keeps a symbolic link and replaces its target, so that the file may be on another mount.
  const target = realpathSync(path);
  const draft = `${target}.new`;
  writeDraft(draft, content);
  publish(draft, target);
}

/**
 * Creates or replaces a file that one process writes, with mode 0600; after a crash the path has either the old or the new
 * file. Removes the draft `<path>.new` that a killed process left.
 *
 * @throws {Error} of the operating system.
 */
export function writeDurableFile(path: string, content: string): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const draft = `${target}.new`;
  rmSync(draft, { force: true });
  writeDraft(draft, () => content);
  publish(draft, target);
}

function publish(draft: string, target: string): void {
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncName(target);
}

function writeDraft(draft: string, content: () => string): void {
  const file = openSync(draft, 'wx', ownerOnly);
  try {
    writeFileSync(file, content());
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Returns the code of an error of the operating system, such as "ENOENT"; undefined for every other error. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Syncs the content of a file to disk. @throws {Error} of the operating system. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Syncs the folder of a file, which makes its creation, rename or link durable. Windows can sync no folder.
 *
 * @throws {Error} of the operating system.
 */
export function syncName(path: string): void {
  if (platform() === 'win32') return;
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
