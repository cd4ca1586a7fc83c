import type { PrimaryProcess, WorkerProcess } from './serve/worker-channel.js';

/** The parts of the process that commands use. `main.ts` implements it for a real process; tests use test doubles. */
export interface IO {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints results, which a caller may pipe. */
  stdout(text: string): void;
  /**
   * Resolves when standard output accepts more data; rejects with `OutputClosedError` after a write error. Commands with
   * many results await it, because unread output stays in memory.
   */
  stdoutDrained?(): Promise<void>;
  /** Prints progress, warnings and explanations. */
  stderr(text: string): void;
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** Whether standard input is a terminal, for confirmations. */
  readonly isStdinTTY?: boolean;
  readonly isStderrTTY: boolean;
  readonly isStdoutTTY?: boolean;
  /** The width of the terminal of standard output, in columns; undefined without a terminal. */
  readonly columns?: number | undefined;
  /** The clock of progress, in milliseconds. Default: `Date.now`. */
  readonly nowMs?: () => number;
  /** Calls back once when the process receives a signal to stop. */
  onStop(callback: () => void): void;
  /** Calls back with each uncaught exception and unhandled rejection. Without a listener, Node ends the process. */
  onUncaughtException?(callback: (error: unknown) => void): void;
  /** The command-line options of Node itself. */
  readonly nodeOptions?: readonly string[];
  /** The process ID, for logs that several processes write. */
  readonly pid?: number;
  /** Starts a worker process with the same settings. `args` are those of `runWorker`. */
  readonly startWorker?: (args: readonly string[]) => WorkerProcess;
  /** The primary process, if this process is a worker. */
  readonly primary?: PrimaryProcess;
}

/** Invalid arguments. The command line prints the message and exits with 2. */
export class UsageError extends Error {}

/** Standard output no longer accepts results. The command line ends without a message. */
export class OutputClosedError extends Error {}
