import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskEnv } from './disk/library.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch } from './kit/service.js';
import { evenly } from './kit/sizes.js';
import type { FaultRun } from './kit/workspace.js';
import type { Scene, Victim } from './victims.js';

/* Kills a command, or a service from its start on, just before one of its calls to the disk; and so at each of them. */

interface KillPointRun extends Omit<FaultRun, 'seed'> {
  readonly library: string;
  readonly name: string;
  readonly victim: Victim;
  /** The calls at which it is killed: these, or at most so many evenly spread over all. */
  readonly points: number | readonly number[];
}

const atOnce = 2;
const never = Number.MAX_SAFE_INTEGER;

export async function killAtEachCall(run: KillPointRun): Promise<Report> {
  const report = startReport(`kill -9 during ${run.name}`, 0);
  const { points } = run;
  const left = typeof points === 'number' ? evenly(await callsOf(run), points) : [...points];
  const calls = Math.max(...left);
  const work = async () => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      const scene = await sceneFor(run, `${run.name}-${at}`);
      await runKilled(run, scene, at);
      const found = await run.victim.judge(scene);
      report.addCase();
      report.addFindings(found, `${run.name}, killed before call ${at}`);
      if (found.length > 0 && run.mutant === undefined) await run.workspace.keep([]);
      else await rm(scene.folder, { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return report.end({ lastCall: calls });
}

/** The number of calls of a run without a kill. */
async function callsOf(run: KillPointRun): Promise<number> {
  const scene = await sceneFor(run, `${run.name}-count`);
  return runKilled(run, scene, never);
}

async function sceneFor({ main, workspace, victim }: KillPointRun, name: string): Promise<Scene> {
  const folder = join(workspace.folder, name.replaceAll(' ', '-'));
  await mkdir(folder, { mode: 0o700 });
  const scene = { main, workspace, folder };
  await victim.prepare(scene);
  return scene;
}

/** Runs the command until it is killed or done, and stops a service once it is ready. Returns its calls. */
async function runKilled({ library, mutant, victim }: KillPointRun, scene: Scene, at: number): Promise<number> {
  const counted = join(scene.folder, 'report');
  const env = diskEnv(library, scene.folder, { fault: { what: 'KILL', at }, report: counted });
  const args = victim.args(scene);
  const running = launch({ main: scene.main, data: join(scene.folder, 'data'), args, mutant, env });
  const url = await running.listening;
  if (url !== undefined) {
    await victim.use?.(scene, Number(url.port));
    running.kill('SIGTERM');
  }
  const timeout = setTimeout(() => void killNow(running), 60_000);
  const { code, signal } = await running.exited;
  clearTimeout(timeout);
  if (!existsSync(counted)) throw new Error(`It ended with ${signal ?? code} and not as planned: ${running.stderr()}`);
  return Number(/calls (\d+)/.exec(await readFile(counted, 'utf8'))?.[1] ?? 0);
}
