import type { Tinypool } from 'tinypool';

/** Threads that run the tasks of one module. They start with the first task, and end when they have none. */
export interface ThreadPool<Task, Result> {
  /** @throws what the task throws, without the code of the error. */
  readonly run: (task: Task) => Promise<Result>;
  /** How many tasks wait for a thread. */
  readonly waiting: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const idleMs = 30_000;

/** One request reads at most 6 MiB. Without a limit, each thread gets the young generation of the main thread. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 };

/** @param filename - URL of the module, whose default export runs a task */
export function createThreadPool<Task, Result>(filename: string, maxThreads: number): ThreadPool<Task, Result> {
  let started: Promise<Tinypool> | undefined;
  let isClosed = false;

  async function start(): Promise<Tinypool> {
    const { Tinypool: Pool } = await import('tinypool');
    return new Pool({ filename, minThreads: 0, maxThreads, idleTimeout: idleMs, resourceLimits });
  }

  function pool(): Promise<Tinypool> {
    if (isClosed) throw new Error('The database is closed.');
    return (started ??= start());
  }

  return {
    run: async (task) => (await pool()).run(task) as Promise<Result>,
    waiting: async () => (await pool()).queueSize,
    async close() {
      isClosed = true;
      await (await started)?.destroy();
    },
  };
}
