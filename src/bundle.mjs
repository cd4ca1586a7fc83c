// Makes one program of the compiled modules and the packages they use: `node src/bundle.mjs`, after tsc. A process starts in
// a third of the time, most of which would go into finding and reading a thousand files. Nothing is shortened or renamed,
// so that the stack of an error can be read.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Runtime dependencies: compiled parts, drivers that are loaded only if a setting asks for them, and tinypool, which starts
 * its threads from a file of its own.
 */
const external = ['better-sqlite3', '@node-rs/bcrypt', '@node-rs/argon2', '@redis/client', 'pg', 'tinypool'];

/** The files of Swagger UI that `/docs` serves. */
const swaggerUI = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Bundles the compiled modules of one folder into another, with the static files of packages and the licences of both. */
export async function bundle(/** @type {string} */ modules, /** @type {string} */ into) {
  await rm(into, { recursive: true, force: true });
  const { metafile } = await build({
    // Worker threads start from a file of their own, beside the one that starts them.
    entryPoints: {
      main: join(modules, 'main.js'),
      'bin/keyfront': join(modules, 'bin', 'keyfront.js'),
      'read-worker': join(modules, 'storage', 'sqlite', 'read-worker.js'),
    },
    outdir: into,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.15',
    external,
    // Packages in the older form of modules ask for Node's own parts with it.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  const assets = join(import.meta.dirname, '..', 'node_modules', 'swagger-ui-dist');
  await mkdir(join(into, 'swagger-ui'));
  for (const name of swaggerUI) await copyFile(join(assets, name), join(into, 'swagger-ui', name));
  const inputs = [...Object.keys(metafile.inputs), join(assets, 'swagger-ui.css')];
  await writeFile(join(into, 'licences.txt'), await licencesOf(inputs));
}

/** The licences of the packages that the files are of, which ask to be where their work is. */
async function licencesOf(/** @type {readonly string[]} */ files) {
  const packages = new Map(
    files.flatMap((file) => {
      const [, folder, name] = /^(.*\bnode_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file) ?? [];
      return folder !== undefined && name !== undefined && !name.startsWith('.') ? [[name, folder]] : [];
    }),
  );
  const texts = [...packages].toSorted().map(async ([name, folder]) => {
    const licence = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const { license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    return `${name} (${license})\n\n${licence === undefined ? '' : await readFile(join(folder, licence), 'utf8')}`;
  });
  return (await Promise.all(texts)).join('\n\n----\n\n');
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === import.meta.filename) {
  await bundle(join(import.meta.dirname, '../build'), join(import.meta.dirname, '../dist'));
}
