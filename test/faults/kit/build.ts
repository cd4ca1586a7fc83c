import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from '../../support/process.js';
import { sourceFolder } from '../../support/source.js';

const dayMs = 86_400_000;

/**
 * The command line compiled from the source as it stands. Suites that start it share one build, which is made anew when
 * the source is another; those of other days are removed.
 */
export async function builtMain(): Promise<string> {
  const digest = createHash('sha256');
  for (const name of (await readdir(sourceFolder, { recursive: true })).sort()) {
    const path = join(sourceFolder, name);
    if (name.endsWith('.ts'))
      digest
        .update(name)
        .update('\0')
        .update(await readFile(path));
  }
  const cache = join(sourceFolder, '..', 'node_modules', '.cache');
  const folder = join(cache, `keyfront-faults-${digest.digest('hex').slice(0, 24)}`);
  if (!existsSync(folder)) {
    const made = await build();
    try {
      await rename(dirname(made.main), folder);
    } catch {
      // Another suite was faster.
      await made.remove();
    }
    await removeOld(cache);
  }
  return join(folder, 'main.js');
}

async function removeOld(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.startsWith('keyfront-faults-')) continue;
    const path = join(cache, name);
    if (Date.now() - (await stat(path)).mtimeMs > dayMs) await rm(path, { recursive: true, force: true });
  }
}
