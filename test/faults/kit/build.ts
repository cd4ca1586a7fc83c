import { build } from '../../support/process.js';

/** The command line compiled from the source as it stands. */
export async function builtMain(): Promise<string> {
  return (await build()).main;
}
