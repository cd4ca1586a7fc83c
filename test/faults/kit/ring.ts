import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../support/cli.js';
import { keyfront } from './command.js';

/** The ids of the keys in a folder's ring, the active one last. */
export async function ringIDs(data: string): Promise<string[]> {
  const ring = JSON.parse(await readFile(join(data, 'key-ring.json'), 'utf8')) as { keys: { id: string }[] };
  return ring.keys.map(({ id }) => id);
}

/**
 * Runs a command that changes the ring. If an interrupted one has left a draft, this follows the
 * instruction in the command's error and runs it again.
 */
export async function changeRing(data: string, ...args: readonly string[]): Promise<Outcome> {
  const outcome = await keyfront(data, ...args);
  return (await hasRemovedDraft(data, outcome.stderr)) ? keyfront(data, ...args) : outcome;
}

/** Whether a command failed because of a draft, which is removed now. */
export async function hasRemovedDraft(data: string, stderr: string): Promise<boolean> {
  const draft = join(data, 'key-ring.json.new');
  if (!stderr.includes('remove the file beside it that ends in .new') || !existsSync(draft)) return false;
  await rm(draft);
  return true;
}
