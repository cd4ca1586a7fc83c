// A bug for the harnesses to catch: what sets a counter to 0 is answered as done, and not sent.
import { createClient } from '@redis/client';

let prototype = Object.getPrototypeOf(createClient());
while (!Object.hasOwn(prototype, 'sendCommand')) prototype = Object.getPrototypeOf(prototype);
const { sendCommand } = prototype;

prototype.sendCommand = function (command, ...rest) {
  const isReset = command[0] === 'EVALSHA' && command[10] === 'set' && command[11] === '0';
  return isReset ? Promise.resolve(['done', '0', ...command.slice(5, 10)]) : sendCommand.call(this, command, ...rest);
};
