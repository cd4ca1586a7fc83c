import type { Socket } from 'node:net';
import type { MetricsSnapshot } from '../../telemetry/aggregate.js';

/** A worker process, as the primary uses it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Sends messages and connections in the order of the calls. */
  readonly send: (message: PrimaryMessage, connection?: Socket) => void;
  readonly onMessage: (callback: (message: WorkerMessage) => void) => void;
  readonly onExit: (callback: (exit: WorkerExit) => void) => void;
  /** Sends SIGKILL, which also ends a process that hangs or is suspended. */
  readonly kill: () => void;
}

/** How a worker ended. */
export interface WorkerExit {
  /** Whether the exit code was 0. */
  readonly isSuccess: boolean;
  /** The exit code or the signal, for the log. */
  readonly reason: string;
  /** Connections that were not yet sent to the worker. */
  readonly unsent: readonly Socket[];
}

/** The primary process, as a worker uses it. */
export interface PrimaryProcess {
  readonly send: (message: WorkerMessage) => void;
  readonly onMessage: (callback: (message: PrimaryMessage, connection: Socket | undefined) => void) => void;
  /** Calls back when the channel to the primary closes. */
  readonly onDisconnect: (callback: () => void) => void;
  /** Ends this process at once. */
  readonly exit: () => void;
}

/** A message from the primary to a worker. */
export type PrimaryMessage =
  | { readonly kind: 'connection' }
  | { readonly kind: 'write lock granted'; readonly id: number }
  /** A worker responds with `pong`, unless its event loop hangs. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'metrics requested'; readonly id: number }
  | { readonly kind: 'stop' };

/** A message from a worker to the primary. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pong' }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricsSnapshot }
  /** The worker accepts no further connections. */
  | { readonly kind: 'leaving'; readonly hasLostStorage: boolean }
  | { readonly kind: 'write lock requested'; readonly id: number }
  | { readonly kind: 'write lock released'; readonly id: number };

/** The members of `process` that the channel uses. */
export type ChannelProcess = Pick<NodeJS.Process, 'connected' | 'exit'> & {
  on(event: 'message', callback: (message: unknown, connection: unknown) => void): unknown;
  on(event: 'disconnect', callback: () => void): unknown;
  send?(message: unknown, connection: undefined, options: undefined, callback: (error: Error | null) => void): unknown;
};

/** Connects a worker to the primary over the IPC channel of its process. */
export function connectToPrimary(self: ChannelProcess): PrimaryProcess {
  const callbacks: (() => void)[] = [];
  let isDisconnected = false;
  const disconnect = () => {
    if (isDisconnected) return;
    isDisconnected = true;
    for (const callback of callbacks) callback();
  };
  self.on('disconnect', disconnect);
  return {
    send: (message) => {
      if (isDisconnected || !self.connected) return;
      // Without a callback, Node throws the error, such as EPIPE after the primary was killed, as an uncaught exception.
      self.send?.(message, undefined, undefined, (error) => {
        if (error) disconnect();
      });
    },
    onMessage: (callback) =>
      void self.on('message', (message, connection) =>
        callback(message as PrimaryMessage, connection as Socket | undefined),
      ),
    onDisconnect: (callback) => void callbacks.push(callback),
    exit: () => self.exit(1),
  };
}
