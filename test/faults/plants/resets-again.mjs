// A mutant: a reset is carried out again after each later count in the same counter.
import { createClient } from '@redis/client';

let prototype = Object.getPrototypeOf(createClient());
while (!Object.hasOwn(prototype, 'sendCommand')) prototype = Object.getPrototypeOf(prototype);
const { sendCommand } = prototype;
const reset = new Set();

prototype.sendCommand = function (command, ...rest) {
  const sent = sendCommand.call(this, command, ...rest);
  if (command[0] !== 'EVALSHA') return sent;
  const counter = command[3];
  if (command[10] === 'set' && command[11] === '0') reset.add(counter);
  // On the same connection, so that Redis executes it after the count.
  else if (command[10] === 'add' && reset.has(counter))
    sendCommand.call(this, ['SET', counter, '0', 'KEEPTTL']).catch(() => undefined);
  return sent;
};
