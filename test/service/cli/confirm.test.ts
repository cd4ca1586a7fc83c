import { expect, it } from 'vitest';
import { makeOwnCommandLine } from '../../support/cli.js';

it.each([
  ['n\n', 1],
  ['\n', 1],
  ['', 1],
  ['yesterday\n', 1],
  ['y\n', 0],
  ['YES\r\nn\n', 0],
  ['y', 0],
])('the input %j at a question ends the command with exit code %i', async (input, code) => {
  const c = await makeOwnCommandLine();
  await c.importKeys([{ key_id: 'k1', org_id: 'acme' }]);
  const person = { input, isInteractive: true, isTerminal: true };
  expect(await c.keyfront(['keys', 'delete', 'k1'], {}, false, person)).toMatchObject({ code });
  expect(await c.keyfront(['keys', 'get', 'k1'])).toMatchObject({ code: 1 - code });
});
