import { mkdtempSync } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the PostgreSQL server of the run, which starts on first use. */
    postgresFolder: string;
  }
}

/** Provides a folder for the PostgreSQL server of the run, and stops that server at the end if there is one. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-postgres-'));
  // The server may run as a different user than the tests.
  await chmod(folder, 0o755);
  provide('postgresFolder', folder);
  return () => stopPostgres(folder);
}

/** Stops the server of a folder, if there is one, and removes the folder. */
export async function stopPostgres(folder: string): Promise<void> {
  const supervisor = await readFile(join(folder, 'supervisor'), 'utf8').catch(() => undefined);
  if (supervisor !== undefined) await stopProcess(Number(supervisor));
  await rm(folder, { recursive: true, force: true });
}

/** Resolves when the process has ended, or after a minute. */
async function stopProcess(supervisor: number): Promise<void> {
  try {
    process.kill(supervisor, 'SIGTERM');
    for (let count = 0; count < 1_200; count += 1) {
      await wait(50);
      process.kill(supervisor, 0);
    }
  } catch {
    // It has ended.
  }
}
