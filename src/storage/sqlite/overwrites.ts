import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import Connection, { SqliteError, type Database } from 'better-sqlite3';
import { FilesReplacedError } from './errors.js';
import { readLogState } from './log-length.js';
import { createFileSettings } from './session.js';
import type { WriteGate } from './write-gate.js';

const name = 'marker';
const tokenBytes = 8;
/** More than a page: the end of the value, the newest token, has a page of its own, which no other write restores. */
const markerChars = 6_000;
const maxVerifiedFrames = 5_000;
const maxAttempts = 3;
const retryAfterMs = 100;

/**
 * Detects that other content was written into the files of a database in use, as `cp` and `truncate` do. The files stay the
 * same, so that SQLite does not notice it, and changes that were acknowledged are lost.
 *
 * The marker is a list of the last random tokens, in the settings. A process adds one when the database has changed, and copies it
 * from the log into the database file, together with all changes before it. A new connection, which has no page in memory,
 * must find the token that this process has last read or written: other processes keep it when they add theirs. And the
 * log must contain each frame that SQLite counts.
 *
 * @param copyLog - copies the log into the database file
 * @returns a function that runs the check. When it fails, the gate accepts no more writes.
 */
export function createOverwriteCheck(
  database: Database,
  gate: WriteGate,
  verifyFiles: () => void,
  copyLog: () => Promise<void>,
): () => Promise<void> {
  const file = database.name;
  const settings = createFileSettings(database);
  const pageSize = Number(database.pragma('page_size', { simple: true }));
  let known = newestOf(settings.get(name) ?? '');
  /** The position in the log up to which the marker covers all changes. */
  let covered: string | undefined;

  function requireKnown(marker: string): void {
    if (!marker.includes(known)) throw overwritten(file);
  }

  function readLog() {
    const { frames, copied } = readLogState(database);
    return { frames, copied, position: `${saltOf(file).toString('hex')} ${frames} ${copied}` };
  }

  function inspect() {
    verifyFiles();
    const log = readLog();
    // Frames that have all been copied are not needed any more.
    if (log.frames > log.copied) requireFrames(file, pageSize, log.frames);
    const marker = readMarker(file);
    requireKnown(marker);
    return { marker, log };
  }

  /** Other processes may copy frames or restart the log meanwhile: only what fails again and again has failed. */
  async function inspectRepeatedly() {
    for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
      try {
        return inspect();
      } catch (error) {
        if (!(error instanceof FilesReplacedError)) throw error;
      }
      await wait(retryAfterMs);
    }
    return gate.read(inspect);
  }

  return async () => {
    const { marker, log } = await inspectRepeatedly();
    const isMarkedByOther = known !== '' && known !== newestOf(marker) && log.frames === log.copied;
    known = newestOf(marker);
    if (log.position === covered) return;
    if (!isMarkedByOther) {
      const token = randomBytes(tokenBytes).toString('hex');
      await gate.write(() => {
        const before = settings.get(name) ?? '';
        requireKnown(before);
        settings.set(name, `${before.padStart(markerChars, '0')}${token}`.slice(-markerChars));
      });
      known = token;
      await copyLog();
    }
    covered = readLog().position;
  };
}

/** Reads the marker as a process would that opens the file now. */
function readMarker(file: string): string {
  try {
    const connection = new Connection(file, { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      return createFileSettings(connection).get(name) ?? '';
    } finally {
      connection.close();
    }
  } catch (error) {
    const isDamaged =
      error instanceof SqliteError && /^SQLITE_(CORRUPT|NOTADB|ERROR$|IOERR_SHORT_READ)/.test(error.code);
    throw isDamaged ? overwritten(file, error) : error;
  }
}

const newestOf = (marker: string) => marker.slice(-2 * tokenBytes);

// The format of the log: https://sqlite.org/fileformat2.html#the_write_ahead_log
const headerBytes = 32;
const frameHeaderBytes = 24;
const saltBytes = 8;

/** The salt of the log, which each of its frames repeats; empty if the log is empty. */
function saltOf(file: string): Buffer {
  return withLog(file, (read) => read(16, saltBytes));
}

/** Requires that the newest frames of the log are where SQLite has written them. A part that was cut off reads as zeros. */
function requireFrames(file: string, pageSize: number, frames: number): void {
  withLog(file, (read) => {
    const salt = read(16, saltBytes);
    const isFrame = (index: number) =>
      read(headerBytes + index * (frameHeaderBytes + pageSize) + saltBytes, saltBytes).equals(salt);
    const first = Math.max(0, frames - maxVerifiedFrames);
    let index = frames - 1;
    while (index >= first && isFrame(index)) index -= 1;
    if (index >= first || salt.every((byte) => byte === 0)) throw overwritten(`${file}-wal`);
  });
}

/** Reads parts of the log. SQLite locks the other files only, whose locks closing a second descriptor would release. */
function withLog<T>(file: string, work: (read: (position: number, length: number) => Buffer) => T): T {
  const log = openSync(`${file}-wal`, 'r');
  try {
    return work((position, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(log, bytes, 0, length, position));
    });
  } finally {
    closeSync(log);
  }
}

function overwritten(path: string, cause?: unknown): FilesReplacedError {
  return new FilesReplacedError(`${path} was overwritten or cut off while the database was in use.`, { cause });
}
