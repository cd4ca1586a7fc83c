import type { Socket } from 'node:net';
import type { MetricsSnapshot } from '../telemetry/aggregate.js';

/** What a command sees of the process it runs in. Only `main.ts` makes a real one. */
export interface IO {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results: what a caller may want to pipe. */
  stdout(text: string): void;
  /**
   * Resolves when whoever reads the results is ready for more, and rejects with `OutputLost` where nobody is any more.
   * To be awaited by whoever has many, since what is not read is kept in memory.
   */
  stdoutDrained?(): Promise<void>;
  /** Everything else: progress, warnings, explanations. */
  stderr(text: string): void;
  /** What is piped in. */
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** Whether a person is watching what `say` prints. */
  readonly isStderrTTY: boolean;
  /** Whether a person, and no program, reads what `out` prints. */
  readonly isStdoutTTY?: boolean;
  /** Calls back once when the process is asked to stop. */
  onStop(callback: () => void): void;
  /** Calls back with whatever was thrown and caught by nobody. Without it, such a thing ends the process. */
  onUncaughtException?(callback: (fault: unknown) => void): void;
  /** The options that Node itself was started with. */
  readonly nodeOptions?: readonly string[];
  /** The number of the process, for logs that several write. */
  readonly pid?: number;
  /** Starts another process of this program, with the same settings, that serves connections it is handed. */
  readonly startWorker?: () => WorkerProcess;
  /** Whoever started this process to serve connections; undefined in all others. */
  readonly primary?: PrimaryProcess;
}

/** A worker, as its primary sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** In the order of the calls, connections included. */
  readonly send: (message: PrimaryMessage, connection?: Socket) => void;
  readonly onMessage: (callback: (message: WorkerMessage) => void) => void;
  readonly onExit: (callback: (end: WorkerExit) => void) => void;
  /** Ends it at once (SIGKILL), also when it hangs or is stopped. */
  readonly kill: () => void;
}

export interface WorkerExit {
  /** Whether its exit code was 0. */
  readonly isSuccess: boolean;
  /** The exit code or the signal, for the log. */
  readonly reason: string;
  /** Connections that never reached it. */
  readonly unsent: readonly Socket[];
}

/** The primary, as a worker sees it. */
export interface PrimaryProcess {
  readonly send: (message: WorkerMessage) => void;
  readonly onMessage: (callback: (message: PrimaryMessage, connection: Socket | undefined) => void) => void;
  readonly onDisconnect: (callback: () => void) => void;
  /** Ends this process where it stands. */
  readonly exit: () => void;
}

export type PrimaryMessage =
  | { readonly kind: 'connection' }
  | { readonly kind: 'your turn'; readonly id: number }
  /** A worker whose event loop runs responds with `pong`. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'metrics wanted'; readonly id: number }
  | { readonly kind: 'stop' };

export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pong' }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricsSnapshot }
  /** It takes no further connections. */
  | { readonly kind: 'leaving'; readonly hasLostStorage: boolean }
  | { readonly kind: 'turn wanted'; readonly id: number }
  | { readonly kind: 'turn over'; readonly id: number };

/** A wrong call of a command: the message is for the person who typed it. */
export class UsageError extends Error {}

/** Results had nowhere to go. There is nothing to say to anybody. */
export class OutputClosedError extends Error {}
