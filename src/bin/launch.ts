import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { nodeOptions } from '../config/node-options.js';

/** Whether the program runs on a version of Node: `engines` of package.json as code. */
export function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 ? minor >= 15 : major === 24 || major >= 26;
}

/** Ends this process with a message and exit code 1 if the program does not run on its Node. */
export function requireSupportedNode(): void {
  const { node } = process.versions;
  if (isSupportedNode(node)) return;
  process.stderr.write(
    `Keyfront needs Node 22.15 or later, 24, or 26 or later; this is Node ${node}. Install Node 24 (https://nodejs.org). In a clone, run \`npm ci\` with this Node instead: it installs a newer one, which \`npm start\` and \`npx keyfront\` use.\n`,
  );
  process.exit(1);
}

/**
 * Runs the program, whose URL is `main`, in a child process that has its Node options. Never resolves: ends this process
 * with the exit code of the child.
 */
export async function launch(main: string, args: readonly string[]): Promise<never> {
  // Node would open its inspector, and the environment holds secrets.
  if (process.env['NODE_ENV'] === 'production') process.on('SIGUSR1', () => undefined);
  const options = [...nodeOptions, ...process.execArgv];
  const child = spawn(process.execPath, [...options, fileURLToPath(main), '(launched)', ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  // A terminal sends SIGINT to the child too, and a second one would end it at once. The end of the channel, which is
  // also what the child sees when this process is killed, stops it like the first signal.
  process.on('SIGINT', () => {
    if (child.connected) child.disconnect();
  });
  return new Promise(() => {
    child.on('error', (error) => {
      process.stderr.write(`Cannot start Node: ${error.message}\n`);
      process.exit(1);
    });
    child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
