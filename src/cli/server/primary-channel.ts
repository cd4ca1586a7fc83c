import type { Socket } from 'node:net';
import type { PrimaryMessage, PrimaryProcess } from '../io.js';

/** What is used of the process that a primary has started. */
export type ChildProcessEnd = Pick<NodeJS.Process, 'connected' | 'exit'> & {
  on(event: 'message', callback: (message: unknown, connection: unknown) => void): unknown;
  on(event: 'disconnect', callback: () => void): unknown;
  send?(message: unknown, connection: undefined, options: undefined, callback: (error: Error | null) => void): unknown;
};

/** The primary at the other end of the IPC channel of this process. */
export function connectToPrimary(self: ChildProcessEnd): PrimaryProcess {
  const callbacks: (() => void)[] = [];
  let isGone = false;
  const leave = () => {
    if (isGone) return;
    isGone = true;
    for (const callback of callbacks) callback();
  };
  self.on('disconnect', leave);
  return {
    send: (message) => {
      if (isGone || !self.connected) return;
      // Without a callback Node emits the error, such as EPIPE of a primary that was killed, as a fault of this process.
      self.send?.(message, undefined, undefined, (error) => {
        if (error) leave();
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
