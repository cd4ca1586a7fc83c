import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { bundle } from '../../src/bundle.mjs';

const root = new URL('../..', import.meta.url).pathname;

export interface Build {
  readonly main: string;
}

const parent = join(root, 'node_modules', '.cache');
const dayMs = 86_400_000;

/**
 * Returns a build of the project as it stands, below `node_modules` so that it finds its packages. All suites share it:
 * it is made anew when the source is another, and those of other days are removed. A suite must not change it.
 */
export async function build(): Promise<Build> {
  const digest = createHash('sha256');
  const sources = (await readdir(join(root, 'src'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...sources, join(root, 'package-lock.json'), join(root, 'tsconfig.json')].toSorted()) {
    digest.update(`${path}\0`).update(await readFile(path));
  }
  const folder = join(parent, `keyfront-build-${digest.digest('hex').slice(0, 24)}`);
  if (!existsSync(folder)) {
    const made = await compile();
    // Another suite may have been faster.
    await rename(made, folder).catch(() => rm(made, { recursive: true }));
    await removeOld();
  }
  return { main: join(folder, 'main.js') };
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!/^keyfront-(build|faults)-/.test(name)) continue;
    const path = join(parent, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > dayMs) await rm(path, { recursive: true, force: true });
  }
}

/** Types are not checked, which takes most of the time and is done elsewhere; what is written is the same. */
async function compile(): Promise<string> {
  await mkdir(parent, { recursive: true });
  const modules = await mkdtemp(join(parent, 'keyfront-modules-'));
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  // Of a single text the compiler does not know that it is a module.
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext };
  for (const fileName of fileNames) {
    const { outputText } = ts.transpileModule(await readFile(fileName, 'utf8'), { compilerOptions, fileName });
    const target = join(modules, relative(join(root, 'src'), fileName)).replace(/\.ts$/, '.js');
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, outputText);
  }
  const folder = await mkdtemp(join(parent, 'keyfront-e2e-'));
  await bundle(modules, folder);
  await rm(modules, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

export interface Running {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal without waiting. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Resolves when the text was written to standard error. */
  readonly said: (text: string) => Promise<void>;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** The options of Node of `npm start`. */
async function nodeOptions(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Starts the real process, as `npm start` would, on a free port and resolves once it listens. */
export async function start(
  main: string,
  data: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  return startCommand(process.execPath, [...(await nodeOptions()), main, ...args], {
    cwd: tmpdir(),
    env: { KEYFRONT_DATA: data, ...env },
  });
}

interface CommandOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** Starts a command that serves on a free port, and resolves once it listens. */
export async function startCommand(
  command: string,
  args: readonly string[],
  { cwd, env }: CommandOptions,
): Promise<Running> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  let isOver = false;
  const exited = (once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>).then(([code, signal]) => {
    isOver = true;
    return { code, signal };
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) {
      if (isOver) throw new Error(`The process ended early:\n${stdout}${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const listening = /Keyfront listens on (https?:\/\/[\d.]+:(\d+))/;
  await until(() => listening.test(stdout));
  const [, url = '', port = ''] = listening.exec(stdout) ?? [];
  return {
    pid: child.pid ?? 0,
    url,
    port: Number(port),
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (name) => void child.kill(name),
    said: async (text) => until(() => stderr.includes(text)),
    exited,
  };
}

/** Sends bytes as they are and answers all that comes back until the other side closes. */
export async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return answerOf(socket);
}

export async function answerOf(socket: Socket): Promise<string> {
  let answer = '';
  for await (const chunk of socket) answer += (chunk as Buffer).toString('utf8');
  return answer;
}
