import { run } from '../../../src/cli/main.js';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly stderr: string;
}

/** Runs one command line on a data folder, in this process: for all that no fault is meant to happen to. */
export async function keyfront(data: string, ...args: readonly string[]): Promise<Outcome> {
  let out = '';
  let stderr = '';
  const code = await run(args, {
    env: { KEYFRONT_DATA: data },
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    isStderrTTY: false,
    onStop: () => undefined,
  });
  return { code, out, stderr };
}

/** The standard output of a command that must succeed. */
export async function outputOf(data: string, ...args: readonly string[]): Promise<string> {
  const { code, out, stderr } = await keyfront(data, ...args);
  if (code !== 0) throw new Error(`keyfront ${args.join(' ')} ended with ${code}: ${stderr}`);
  return out;
}
