import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { connectToPrimary, type ChannelProcess } from '../../../src/cli/serve/worker-channel.js';

/** A process whose channel fails as Node's does: the callback of `send` gets the error. */
function brokenProcess() {
  const sent: unknown[] = [];
  const events = new EventEmitter();
  const self: ChannelProcess = {
    connected: true,
    exit: () => {
      throw new Error('not expected');
    },
    on: (event: string, callback: (...args: unknown[]) => void) => events.on(event, callback),
    send: (message, _connection, _options, callback) => {
      sent.push(message);
      callback(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    },
  };
  return { self, sent, disconnect: () => events.emit('disconnect') };
}

describe('the channel to the primary', () => {
  it('treats a send error as the end of the primary, once, and sends nothing more', () => {
    const { self, sent, disconnect } = brokenProcess();
    const primary = connectToPrimary(self);
    let gone = 0;
    primary.onDisconnect(() => (gone += 1));
    for (const id of [1, 2, 3]) primary.send({ kind: 'write lock requested', id });
    disconnect();
    expect([gone, sent.length]).toEqual([1, 1]);
  });
});
