import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundlePages } from '../../src/build/pages.mjs';

const root = join(import.meta.dirname, '../..');

/**
 * The folder of the bundles. Its path is constant, because Vitest caches transformed modules, which contain the path,
 * between runs.
 */
export const bundlesFolder = join(root, 'node_modules/.cache/keyfront-tests/');

/** Bundles the script of worker threads and the pages for browsers from the sources under test. */
export default async function setup(): Promise<void> {
  await mkdir(bundlesFolder, { recursive: true });
  const made = await mkdtemp(join(bundlesFolder, 'new-'));
  await build({
    entryPoints: ['read-worker', 'checkpoint-worker'].map((name) => join(root, `src/storage/sqlite/${name}.ts`)),
    outdir: made,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'warning',
  });
  await bundlePages(join(made, 'browser'));
  await replaceFiles(made, bundlesFolder);
  await rm(made, { recursive: true });
}

/** Moves every file by an atomic rename, because another run may be reading the old file. */
async function replaceFiles(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const target = join(to, path.slice(from.length));
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
  }
}
