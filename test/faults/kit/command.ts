import { runCommand, type Outcome } from '../../support/cli.js';

/** A data folder, or the environment of an installation. */
export type Place = string | Readonly<Record<string, string>>;

/** Runs one command on an installation, in this process, without a fault. */
export function keyfront(place: Place, ...args: readonly string[]): Promise<Outcome> {
  const env = typeof place === 'string' ? { KEYFRONT_DATA: place } : place;
  return runCommand(args, env, false, { onStop: () => undefined });
}

/** Runs a command that must succeed, and resolves to its trimmed standard output. */
export async function outputOf(place: Place, ...args: readonly string[]): Promise<string> {
  const { code, out, stderr } = await keyfront(place, ...args);
  if (code !== 0) throw new Error(`keyfront ${args.join(' ')} ended with ${code}: ${stderr}`);
  return out.trim();
}
