import { runCommand, type Outcome } from '../../support/cli.js';

/** A data folder, or the settings of an installation. */
export type Place = string | Readonly<Record<string, string>>;

/** Runs one command on an installation, in this process: for all that no fault is meant to happen to. */
export function keyfront(place: Place, ...args: readonly string[]): Promise<Outcome> {
  const env = typeof place === 'string' ? { KEYFRONT_DATA: place } : place;
  return runCommand(args, env, false, { onStop: () => undefined });
}

/** The standard output of a command that must succeed, without its last line break. */
export async function outputOf(place: Place, ...args: readonly string[]): Promise<string> {
  const { code, out, stderr } = await keyfront(place, ...args);
  if (code !== 0) throw new Error(`keyfront ${args.join(' ')} ended with ${code}: ${stderr}`);
  return out.trim();
}
