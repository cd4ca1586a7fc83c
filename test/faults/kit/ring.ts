import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../support/cli.js';
import { keyfront } from './command.js';

/** Reads the ids of the keys in the ring of a data folder. The last one is that of the primary key. */
export async function ringIDs(data: string): Promise<string[]> {
  const ring = JSON.parse(await readFile(join(data, 'key-ring.json'), 'utf8')) as { keys: { id: string }[] };
  return ring.keys.map(({ id }) => id);
}

/**
 * Runs a command that changes the ring. If an interrupted command has left a draft, removes it, as the error of the
 * command states, and runs the command again.
 */
export async function changeRing(data: string, ...args: readonly string[]): Promise<Outcome> {
  const outcome = await keyfront(data, ...args);
  return (await hasRemovedDraft(data, outcome.stderr)) ? keyfront(data, ...args) : outcome;
}

/** Removes the draft if a command failed because of it. Resolves to whether it did. */
export async function hasRemovedDraft(data: string, stderr: string): Promise<boolean> {
  const draft = join(data, 'key-ring.json.new');
  if (!stderr.includes('remove the file beside it that ends in .new') || !existsSync(draft)) return false;
  await rm(draft);
  return true;
}
