import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);

/** What `npm run build` has written last. */
const lastBuilt = join(root, 'dist/client/client.js');

/** The time of the last change of what a build depends on, in milliseconds. */
async function sourceTime(): Promise<number> {
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = [...sources, ...['package.json', 'package-lock.json', 'tsconfig.json'].map((name) => join(root, name))];
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(...times);
}

/** Builds the project with `npm run build`, as `npm ci` does, unless `dist` is newer than the sources. */
async function buildIfChanged(): Promise<void> {
  const built = await stat(lastBuilt).catch(() => undefined);
  if (built === undefined || built.mtimeMs < (await sourceTime())) await run('npm', ['run', 'build'], { cwd: root });
}

/** Packs both packages from the build that ships, into a folder. Returns the paths of the tarballs. */
export async function packShipped(into: string): Promise<{ server: string; client: string }> {
  await buildIfChanged();
  await run(process.execPath, [join(root, 'src/build/pack.mjs'), into], { cwd: root, maxBuffer: 2 ** 26 });
  const names = await readdir(into);
  const find = (pattern: RegExp) => join(into, names.find((name) => pattern.test(name)) ?? 'missing');
  return { server: find(/^keyfront-\d.*\.tgz$/), client: find(/^keyfront-client-\d.*\.tgz$/) };
}
