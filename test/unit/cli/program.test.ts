import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { createProgram } from '../../../src/cli/program.js';

/** Prints help on a terminal of a width. */
async function help(columns: number | undefined, ...args: string[]): Promise<string> {
  let out = '';
  const io = {
    env: {},
    stdout: (text: string) => void (out += text),
    stderr: () => undefined,
    isStderrTTY: true,
    columns,
    onStop: () => undefined,
  };
  const program = createProgram(commands, io, () => Promise.resolve());
  await expect(program.parseAsync([...args, '--help'], { from: 'user' })).rejects.toThrow();
  return out;
}

/** The longest line of a text, without the usage and the examples, which are not wrapped, and without single words. */
function widthOf(text: string): number {
  const lines = text.split('\n').filter((line) => !/^(Usage:| {2}keyfront )/.test(line) && line.trim().includes(' '));
  return Math.max(...lines.map((line) => line.length));
}

it.each([[], ['keys', 'list'], ['deliver', 'file']])('fits help into the terminal: %s %s', async (...args) => {
  expect(widthOf(await help(60, ...args))).toBeLessThanOrEqual(60);
  expect(widthOf(await help(200, ...args))).toBeLessThanOrEqual(100);
  expect(await help(0, ...args)).toBe(await help(undefined, ...args));
});

it.each([[], ['keys', 'list']])('separates the sections of help by one line: %s %s', async (...args) => {
  expect(await help(undefined, ...args)).not.toMatch(/\n\n(\n|$)/);
});
