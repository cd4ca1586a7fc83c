import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOptions } from '../config/node-options.js';

/** The oldest version of Node that the program runs on; npm itself may run on an older one. */
const minNodeMajor = 22;

/**
 * The Node to run the program with: this process's if it is supported, otherwise the one that npm has installed with the
 * project. Ends the process with a message and exit code 1 if there is none.
 */
export function supportedNode(): string {
  if (Number.parseInt(process.versions.node, 10) >= minNodeMajor) return process.execPath;
  const isWindows = process.platform === 'win32';
  try {
    const manifest = `node-${isWindows ? 'win' : process.platform}-${process.arch}/package.json`;
    const folder = dirname(createRequire(import.meta.url).resolve(manifest));
    return join(folder, 'bin', isWindows ? 'node.exe' : 'node');
  } catch {
    process.stderr.write(
      `Keyfront needs Node ${minNodeMajor} or later; this is Node ${process.versions.node}. Install a newer Node, or run \`npm ci\`, which installs Node 24.\n`,
    );
    return process.exit(1);
  }
}

/**
 * Runs the program, whose URL is `main`, in a child process that has its Node options. Never resolves: ends this process
 * with the exit code of the child.
 */
export async function launch(node: string, main: string, args: readonly string[]): Promise<never> {
  // Node would open its inspector, and the environment holds secrets.
  if (process.env['NODE_ENV'] === 'production') process.on('SIGUSR1', () => undefined);
  const child = spawn(node, [...nodeOptions, ...process.execArgv, fileURLToPath(main), '(launched)', ...args], {
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
