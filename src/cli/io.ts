import type { Socket } from 'node:net';
import type { MetricsSnapshot } from '../telemetry/aggregate.js';

/** What a command sees of the process it runs in. Only `main.ts` makes a real one. */
export interface IO {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results: what a caller may want to pipe. */
  out(text: string): void;
  /**
   * Resolves when whoever reads the results is ready for more, and rejects with `OutputLost` where nobody is any more.
   * To be awaited by whoever has many, since what is not read is kept in memory.
   */
  drained?(): Promise<void>;
  /** Everything else: progress, warnings, explanations. */
  say(text: string): void;
  /** What is piped in. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Whether a person is watching what `say` prints. */
  readonly isWatched: boolean;
  /** Whether a person, and no program, reads what `out` prints. */
  readonly isTerminal?: boolean;
  /** Calls back once when the process is asked to stop. */
  onStop(callback: () => void): void;
  /** Calls back with whatever was thrown and caught by nobody. Without it, such a thing ends the process. */
  onFault?(callback: (fault: unknown) => void): void;
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
  readonly send: (message: FromPrimary, connection?: Socket) => void;
  readonly onMessage: (callback: (message: FromWorker) => void) => void;
  readonly onEnd: (callback: (end: WorkerEnd) => void) => void;
  /** Ends it at once (SIGKILL), also when it hangs or is stopped. */
  readonly kill: () => void;
}

export interface WorkerEnd {
  /** Whether its exit code was 0. */
  readonly isWell: boolean;
  /** The exit code or the signal, for the log. */
  readonly reason: string;
  /** Connections that never reached it. */
  readonly unsent: readonly Socket[];
}

/** The primary, as a worker sees it. */
export interface PrimaryProcess {
  readonly send: (message: FromWorker) => void;
  readonly onMessage: (callback: (message: FromPrimary, connection: Socket | undefined) => void) => void;
  readonly onGone: (callback: () => void) => void;
  /** Ends this process where it stands. */
  readonly exit: () => void;
}

export type FromPrimary =
  | { readonly kind: 'connection' }
  | { readonly kind: 'your turn'; readonly id: number }
  /** A worker whose event loop runs responds with `pong`. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'metrics wanted'; readonly id: number }
  | { readonly kind: 'stop' };

export type FromWorker =
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
export class OutputLost extends Error {}
