import type { Database } from 'better-sqlite3';
import { describeError } from '../../lib/system-error.js';
import type { RunExclusive } from '../storage.js';
import type { CheckpointTask } from './checkpoint-worker.js';
import { logLength } from './log-length.js';
import { createThreadPool, type ThreadPool } from './thread-pool.js';

/** Keeps the write-ahead log of a file short, without work in the commits of the main thread. */
export interface LogCheckpoints {
  /** Looks at the length of the log after a commit, at a cost of 10 µs, and starts a checkpoint if it is long. */
  readonly afterCommit: () => void;
  /**
   * Copies the log into the database file now.
   *
   * @throws {Error} when the files were replaced, or cannot be written.
   */
  readonly copy: () => Promise<void>;
  /** A load writes the same pages many times, so that they are copied later. */
  readonly setWork: (work: 'load' | 'normal') => void;
  readonly close: () => Promise<void>;
}

/** Runs checkpoints in another thread. */
export type CheckpointRunner = Pick<ThreadPool<CheckpointTask, void>, 'run' | 'close'>;

export const createCheckpointRunner = (): CheckpointRunner =>
  createThreadPool(new URL('./checkpoint-worker.js', import.meta.url).href, 1);

const mebibyte = 1024 * 1024;

/**
 * A log of the size `normal`, or `load`, is copied into the database. One of the size `truncate`, which a long reader has
 * made, is cut to nothing; a shorter one is overwritten.
 */
const defaultSizes = { normal: 16 * mebibyte, load: 192 * mebibyte, truncate: 256 * mebibyte };

/** What the checkpoints of one file need. Tests set the sizes. */
interface LogCheckpointOptions {
  /** Throws when the files of the database were replaced; the thread would open the others. */
  readonly verifyFiles: () => void;
  /** Holds the changes back: they would fail if they met the write lock of a checkpoint for long. */
  readonly runExclusive: RunExclusive;
  /** Receives a line when checkpoints begin to fail. */
  readonly report: (line: string) => void;
  readonly sizes?: typeof defaultSizes;
}

/** Takes the checkpoints of a connection over from SQLite, which would copy the log within a commit. */
export function createLogCheckpoints(
  database: Database,
  runner: CheckpointRunner,
  { verifyFiles, runExclusive, report, sizes = defaultSizes }: LogCheckpointOptions,
): LogCheckpoints {
  database.pragma('wal_autocheckpoint = 0');
  let startBytes = sizes.normal;
  /** The length at which the next checkpoint starts: later than `startBytes` while a reader holds the log. */
  let nextBytes = startBytes;
  let hasFailed = false;
  let isRunning = false;
  let current = Promise.resolve();

  async function copy(truncate: boolean): Promise<void> {
    verifyFiles();
    const file = database.name;
    await runner.run({ file, step: 'copy' });
    await runExclusive(() => runner.run({ file, step: truncate ? 'truncate' : 'restart' }));
  }

  async function checkpointIfLong(): Promise<void> {
    const bytes = logLength(database);
    // The log has started again.
    if (bytes < startBytes) nextBytes = startBytes;
    if (bytes < nextBytes) return;
    // After a failure too, the next checkpoint waits until the log has grown.
    nextBytes = bytes + startBytes;
    await copy(bytes >= sizes.truncate);
    nextBytes = logLength(database) + startBytes;
    hasFailed = false;
  }

  function reportOnce(error: unknown): void {
    if (!hasFailed) report(`The write-ahead log was not copied into the database file: ${describeError(error)}`);
    hasFailed = true;
  }

  return {
    afterCommit() {
      if (isRunning) return;
      isRunning = true;
      current = checkpointIfLong()
        .catch(reportOnce)
        .finally(() => {
          isRunning = false;
        });
    },
    copy: () => copy(false),
    setWork(work) {
      startBytes = nextBytes = sizes[work];
    },
    async close() {
      await current;
      await runner.close();
    },
  };
}
