import type { Socket } from 'node:net';
import type { PrimaryMessage, PrimaryProcess } from './worker-messages.js';

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
