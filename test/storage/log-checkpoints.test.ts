import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runStep, type CheckpointTask } from '../../src/storage/sqlite/checkpoint-worker.js';
import { createLogCheckpoints, type CheckpointRunner } from '../../src/storage/sqlite/log-checkpoints.js';
import { logLength, readLogState } from '../../src/storage/sqlite/log-length.js';
import type { RunExclusive } from '../../src/storage/storage.js';
import { temporaryFolder } from '../support/folder.js';

const kibibyte = 1024;
const sizes = { normal: 64 * kibibyte, load: 256 * kibibyte, truncate: 512 * kibibyte };

/** A database whose commits start checkpoints, which run in this thread. `settled` resolves when none runs. */
async function openLogged({ run, verifyFiles = () => undefined }: Partial<Overrides> = {}) {
  const file = join(await temporaryFolder(), 'keyfront.db');
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.exec('CREATE TABLE rows (value BLOB) STRICT');
  const other = new Database(file, { timeout: 0 });
  /** The checkpoints that began. */
  const tasks: CheckpointTask[] = [];
  /** All steps, and whether changes were held back during each. */
  const steps: [CheckpointTask['step'], boolean][] = [];
  let isExclusive = false;
  const lines: string[] = [];
  const runner: CheckpointRunner = {
    run: (task) => {
      if (task.step === 'copy') tasks.push(task);
      steps.push([task.step, isExclusive]);
      return run?.() ?? runStep(other, task.step);
    },
    close: () => Promise.resolve(),
  };
  const runExclusive: RunExclusive = async (work) => {
    isExclusive = true;
    try {
      return await work();
    } finally {
      isExclusive = false;
    }
  };
  const report = (line: string) => void lines.push(line);
  const log = createLogCheckpoints(database, runner, { verifyFiles, runExclusive, report, sizes });
  const insert = database.prepare('INSERT INTO rows VALUES (zeroblob(?))');
  onTestFinished(async () => {
    await log.close();
    other.close();
    database.close();
  });
  /** Commits a change of this size and waits for the checkpoint that it started. */
  async function commit(bytes: number): Promise<void> {
    insert.run(bytes);
    log.afterCommit();
    await log.close();
  }
  const fileBytes = async () => (await stat(`${file}-wal`)).size;
  return { file, database, log, tasks, steps, lines, commit, used: () => logLength(database), fileBytes };
}

interface Overrides {
  /** Replaces a checkpoint, unless it returns undefined. */
  readonly run: () => Promise<void> | undefined;
  readonly verifyFiles: () => void;
}

describe('the checkpoints of the log', () => {
  it('begin when the log has the size, and let it start again, so that its file stays short', async () => {
    const { commit, tasks, used, fileBytes } = await openLogged();
    await commit(20 * kibibyte);
    expect([tasks.length, used() > 0]).toEqual([0, true]);
    for (let index = 0; index < 40; index += 1) await commit(20 * kibibyte);
    expect(tasks.length).toBeGreaterThan(5);
    expect(await fileBytes()).toBeLessThan(sizes.normal + 64 * kibibyte);
  });

  it('are not run by SQLite within a commit', async () => {
    const { database, used } = await openLogged({ run: () => Promise.resolve() });
    const insert = database.prepare('INSERT INTO rows VALUES (zeroblob(8000000))');
    insert.run();
    const before = used();
    insert.run();
    expect(used()).toBeGreaterThan(before + 8_000_000);
  });

  it('wait, while a reader holds the log, until it has grown by the size again, and cut it after the reader', async () => {
    const { file, commit, tasks, steps, used, fileBytes } = await openLogged();
    const reader = new Database(file);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM rows').get();
    let commits = 0;
    for (; used() < sizes.truncate; commits += 1) await commit(20 * kibibyte);
    expect(tasks.length).toBeGreaterThan(2);
    expect(tasks.length).toBeLessThan(commits / 2);
    expect(await fileBytes()).toBeGreaterThan(sizes.truncate);
    reader.exec('COMMIT');
    reader.close();
    for (let index = 0; index < 4; index += 1) await commit(20 * kibibyte);
    expect(steps).toContainEqual(['truncate', true]);
    expect(await fileBytes()).toBeLessThan(sizes.normal + 64 * kibibyte);
    expect(used()).toBeLessThan(sizes.normal + 64 * kibibyte);
  });

  it('copy what others write meanwhile without the write lock, until little is left', async () => {
    const { file, database } = await openLogged();
    const insert = database.prepare('INSERT INTO rows VALUES (zeroblob(?))');
    insert.run(8_000 * kibibyte);
    const checkpointing = new Database(file, { timeout: 0 });
    onTestFinished(() => void checkpointing.close());
    const left: number[] = [];
    const pragma = checkpointing.pragma.bind(checkpointing);
    /** While the log is copied, writers add half of what is copied. */
    checkpointing.pragma = (source, options) => {
      const { frames, copied } = readLogState(database);
      if (source.includes('TRUNCATE')) left.push(frames - copied);
      const result = pragma(source, options);
      if (source.includes('PASSIVE')) insert.run((frames - copied) * 2 * kibibyte);
      return result;
    };
    await runStep(checkpointing, 'copy');
    await runStep(checkpointing, 'truncate');
    expect(left).toEqual([expect.toSatisfy((pages: number) => pages > 0 && pages <= 1_024)]);
    expect(logLength(database)).toBe(0);
  });

  it('hold changes back only while they have the write lock', async () => {
    const { commit, log, steps } = await openLogged();
    await commit(20 * kibibyte);
    await log.copy();
    expect(steps).toEqual([
      ['copy', false],
      ['restart', true],
    ]);
  });

  it('can be requested at any length', async () => {
    const { log, commit, tasks, used } = await openLogged();
    await commit(20 * kibibyte);
    await log.copy();
    expect([tasks.length, used()]).toEqual([1, 0]);
  });

  it('begin later during a load', async () => {
    const { log, commit, tasks, used } = await openLogged();
    log.setWork('load');
    while (used() < sizes.load - 64 * kibibyte) await commit(20 * kibibyte);
    expect(tasks).toHaveLength(0);
    while (tasks.length === 0 && used() < sizes.load + 64 * kibibyte) await commit(20 * kibibyte);
    expect(tasks).toHaveLength(1);
    log.setWork('normal');
    while (tasks.length === 1 && used() < sizes.normal + 64 * kibibyte) await commit(20 * kibibyte);
    expect(tasks).toHaveLength(2);
  });

  it('report the first of several failures, keep the changes, and go on later', async () => {
    let isBroken = true;
    const { commit, tasks, lines, used, fileBytes } = await openLogged({
      run: () => (isBroken ? Promise.reject(new Error('disk I/O error')) : undefined),
    });
    for (let index = 0; index < 16; index += 1) await commit(20 * kibibyte);
    expect(tasks.length).toBeGreaterThan(1);
    expect(tasks.length).toBeLessThan(8);
    expect(lines).toEqual(['The write-ahead log was not copied into the database file: disk I/O error']);
    isBroken = false;
    const before = await fileBytes();
    for (let index = 0; index < 8; index += 1) await commit(20 * kibibyte);
    expect(used()).toBeLessThan(before);
  });

  it('do not open the files that took the place of those in use', async () => {
    const { commit, tasks, lines } = await openLogged({
      verifyFiles: () => {
        throw new Error('keyfront.db was replaced by another file.');
      },
    });
    for (let index = 0; index < 5; index += 1) await commit(20 * kibibyte);
    expect([tasks, lines.length]).toEqual([[], 1]);
  });
});
