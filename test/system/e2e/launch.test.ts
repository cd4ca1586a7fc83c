import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeOptions } from '../../../src/config/node-options.js';
import { buildMain, copyBuild } from '../../support/build.mjs';
import { isFree } from '../../support/free-port.mjs';
import { childrenOf, start, startCommand, type Running } from '../../support/process.js';

const root = new URL('../../..', import.meta.url).pathname;

/** A folder with the scripts of package.json and the build, in which `keyfront` is installed as npm installs it. */
let place: string;
let main: string;
const running: Running[] = [];
const pids: number[] = [];
beforeAll(async () => {
  main = await buildMain();
  place = await mkdtemp(join(tmpdir(), 'keyfront-launch-'));
  await copyFile(join(root, 'package.json'), join(place, 'package.json'));
  await symlink(dirname(main), join(place, 'dist'));
  await mkdir(join(place, 'node_modules', '.bin'), { recursive: true });
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { keyfront: string } };
  await chmod(join(place, bin.keyfront), 0o755);
  await symlink(join('..', '..', bin.keyfront), join(place, 'node_modules', '.bin', 'keyfront'));
});
afterEach(async () => {
  // A failing test must not leave a service behind.
  for (const pid of pids.splice(0)) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  for (const one of running.splice(0)) {
    one.signal('SIGKILL');
    await one.exited;
  }
});
afterAll(async () => {
  await rm(place, { recursive: true });
});

let folders = 0;
async function started(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  folders += 1;
  const PATH = [join(place, 'node_modules', '.bin'), process.env['PATH'], dirname(process.execPath)].join(delimiter);
  const options = {
    PATH,
    HOME: place,
    KEYFRONT_DATA: join(place, `data-${folders}`),
    npm_config_update_notifier: 'false',
  };
  const one = await startCommand(command, args, { cwd: place, env: { ...options, ...env } });
  running.push(one);
  pids.push(...descendantsOf(one.pid));
  return one;
}

/** The processes that a process has started, and those that these have started. */
function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

describe('npm start', () => {
  it('stops the service and frees the port when npm itself gets SIGTERM', async () => {
    const one = await started('npm', ['start']);
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);
    expect(commandOf(descendantsOf(one.pid).at(-1) ?? 0)).toEqual(expect.arrayContaining([...nodeOptions]));
    one.signal('SIGTERM');
    await expect.poll(() => isFree(one.port)).toBe(true);
    await one.exited;
    expect(one.stderr()).toContain('"msg":"stopping"');
  });
});

describe('the command keyfront', () => {
  it('serves with the options of `npm start`', async () => {
    const one = await started('keyfront', ['serve'], { NODE_ENV: 'production' });
    expect(descendantsOf(one.pid).map(commandOf)).toEqual([expect.arrayContaining([...nodeOptions])]);
    // After the warnings.
    await one.untilLogged('"msg":"listening"');
    expect(one.stderr()).not.toContain('hardening options');
  });

  it('serves with them in every worker', async () => {
    const one = await started('keyfront', ['serve', '--workers', '2']);
    const commands = descendantsOf(one.pid).map(commandOf);
    expect(commands).toEqual([1, 2, 3].map(() => expect.arrayContaining([...nodeOptions]) as string[]));
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops the service at %s and ends with its exit code', async (signal) => {
    const one = await started('keyfront', ['serve']);
    one.signal(signal);
    expect(await one.exited).toEqual({ code: 0, signal: null });
    expect(one.stderr()).toContain('"msg":"stopping"');
    expect(await isFree(one.port)).toBe(true);
  });

  it('leaves no service behind when it is killed', async () => {
    const one = await started('keyfront', ['serve']);
    one.signal('SIGKILL');
    // Standard error closes when the last process ends that has it.
    expect(await one.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await isFree(one.port)).toBe(true);
    expect(one.stderr()).toContain('"msg":"stopping"');
  });

  it('ends with exit code 1 and the reason when the service cannot start', async () => {
    const { port } = await started('keyfront', ['serve']);
    await expect(started('keyfront', ['serve'], { PORT: String(port) })).rejects.toThrow('the port is in use');
  });
});

describe('compiled code', () => {
  let program: string;
  beforeEach(async () => {
    program = await mkdtemp(`${dirname(main)}-copy-`);
    await copyBuild(main, program);
  });
  afterEach(async () => {
    await rm(program, { recursive: true });
  });

  /** Serves until the service is ready. Returns whether Node has used the code of an earlier process. */
  async function usesCompiledCode(): Promise<boolean> {
    const one = await started(process.execPath, [join(program, 'main.js'), 'serve'], {
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
    });
    one.signal('SIGTERM');
    expect(await one.exited).toEqual({ code: 0, signal: null });
    return /\/serve-\w+\.js was accepted/.test(one.stderr());
  }

  it('is kept beside the program, and used by the next start', async () => {
    expect([await usesCompiledCode(), await usesCompiledCode()]).toEqual([false, true]);
  });

  it('is not kept where it cannot be written', async () => {
    await writeFile(join(program, 'compile-cache'), '');
    expect([await usesCompiledCode(), await usesCompiledCode()]).toEqual([false, false]);
  });

  const isRoot = process.getuid?.() === 0;
  const ofOther = 'is not kept beside a program that another user owns';
  it.skipIf(!isRoot)(isRoot ? ofOther : `${ofOther}: left out, because only root can change the owner`, async () => {
    await chown(program, 65_534, 65_534);
    expect([await usesCompiledCode(), existsSync(join(program, 'compile-cache'))]).toEqual([false, false]);
  });
});

describe('Node without its hardening options', () => {
  it('logs a warning in production', async () => {
    const one = await started(process.execPath, [main, 'serve'], { NODE_ENV: 'production' });
    await one.untilLogged(
      '"missing":["--max-semi-space-size=32","--heap-growing-percent=100","--disable-proto=delete"',
    );
  });

  it('logs no warning with them', async () => {
    const one = await start(main, join(place, 'hardened'), [], { NODE_ENV: 'production' });
    running.push(one);
    // After the warnings.
    await one.untilLogged('"msg":"listening"');
    expect(one.stderr()).not.toContain('hardening options');
  });
});
