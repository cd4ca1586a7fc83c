// Makes one program of the compiled modules and the packages they use: `node src/build/bundle.mjs`, after tsc. A process starts in
// a third of the time, most of which would go into finding and reading a thousand files. Nothing is shortened or renamed,
// so that the stack of an error can be read.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { bundlePages } from './pages.mjs';
import { billOfMaterials } from './sbom.mjs';

/**
 * Runtime dependencies: compiled parts, drivers that only some settings load, and tinypool, which starts
 * its threads from a file of its own.
 */
const external = ['better-sqlite3', '@node-rs/bcrypt', '@node-rs/argon2', '@redis/client', 'pg', 'tinypool'];

/**
 * Bundles the compiled modules of one folder into another, with the pages for browsers, the licenses of all packages, the
 * bill of materials, and what the package `keyfront-client` has beside its modules.
 */
export async function bundle(/** @type {string} */ modules, /** @type {string} */ into) {
  await rm(into, { recursive: true, force: true });
  const { metafile } = await build({
    // Worker threads start from a file of their own, beside the one that starts them.
    entryPoints: {
      main: join(modules, 'main.js'),
      'bin/keyfront': join(modules, 'bin', 'keyfront.js'),
      'read-worker': join(modules, 'storage', 'sqlite', 'read-worker.js'),
      'checkpoint-worker': join(modules, 'storage', 'sqlite', 'checkpoint-worker.js'),
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
  const pageFiles = await bundlePages(join(into, 'browser'));
  const packages = packagesOf([...Object.keys(metafile.inputs), ...pageFiles]);
  await writeFile(join(into, 'licenses.txt'), await licensesOf(packages));
  const root = join(import.meta.dirname, '../..');
  const bill = await billOfMaterials(packages.map((folder) => relative(root, folder)));
  await writeFile(join(into, 'keyfront.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  await writeClientPackage(join(into, 'client'));
}

/** Writes what makes a package of the client's modules, which tsc compiles: `npm pack ./dist/client` packs it. */
async function writeClientPackage(/** @type {string} */ into) {
  const root = join(import.meta.dirname, '../..');
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const manifest = {
    name: 'keyfront-client',
    version,
    description: 'A typed client of the GraphQL API of Keyfront, for browsers and Node, without dependencies.',
    license,
    type: 'module',
    exports: {
      '.': { types: './client.d.ts', default: './client.js' },
      './schema.graphql': './schema.graphql',
      './subgraph.graphql': './subgraph.graphql',
      './package.json': './package.json',
    },
    sideEffects: false,
  };
  await mkdir(into);
  await writeFile(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await copyFile(join(root, 'LICENSE'), join(into, 'LICENSE'));
  await copyFile(join(root, 'src', 'client', 'README.md'), join(into, 'README.md'));
  for (const name of ['schema.graphql', 'subgraph.graphql'])
    await copyFile(join(root, 'schema', name), join(into, name));
}

/** The folders of the packages that the files are of. */
function packagesOf(/** @type {readonly string[]} */ files) {
  const folders = files.flatMap((file) => {
    const [, folder, name] = /^(.*\bnode_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file) ?? [];
    return folder !== undefined && name !== undefined && !name.startsWith('.') ? [folder] : [];
  });
  return [...new Set(folders)].toSorted();
}

/** The licenses of the packages, which ask to be where their work is. */
async function licensesOf(/** @type {readonly string[]} */ packages) {
  const texts = packages.map(async (folder) => {
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const { name, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    return `${name} (${license})\n\n${file === undefined ? '' : await readFile(join(folder, file), 'utf8')}`;
  });
  return (await Promise.all(texts)).join('\n\n----\n\n');
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === import.meta.filename) {
  await bundle(join(import.meta.dirname, '../../build'), join(import.meta.dirname, '../../dist'));
}
