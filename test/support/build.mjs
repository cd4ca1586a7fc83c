import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { bundle } from '../../src/build/bundle.mjs';
import { applyMutant, readMutant } from '../mutants/mutant.mjs';

const root = join(import.meta.dirname, '../..');
const parent = join(root, 'node_modules', '.cache');
const dayMs = 86_400_000;

const { options, fileNames } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  root,
);
// The compiler cannot infer from the text of one file that it is a module.
const compilerOptions = { ...options, module: ts.ModuleKind.ESNext };

/**
 * Builds the project, or a mutant (a name in `test/mutants`), and returns the path of the command line. The build is
 * below `node_modules`, where it finds its packages. All suites share it and must not change it. A change of the source
 * causes a new build, which removes those older than a day.
 */
export async function buildMain(/** @type {string | undefined} */ mutantName = undefined) {
  const digest = createHash('sha256');
  const sources = (await readdir(join(root, 'src'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...sources, join(root, 'package-lock.json'), join(root, 'tsconfig.json')].toSorted()) {
    digest.update(`${path}\0`).update(await readFile(path));
  }
  const id = digest.digest('hex').slice(0, 24);
  const modules = join(parent, `keyfront-modules-${id}`);
  if (!existsSync(modules)) {
    await publish(await compile(), modules);
    await removeOld();
  }
  const mutant = mutantName === undefined ? undefined : readMutant(mutantName);
  const mutantID = createHash('sha256')
    .update(JSON.stringify(mutant ?? 'sound'))
    .digest('hex')
    .slice(0, 8);
  const folder = join(parent, `keyfront-build-${id}-${mutantID}`);
  if (!existsSync(folder)) await publish(await link(modules, mutant), folder);
  return join(folder, 'main.js');
}

/**
 * Copies the files of a build that a package contains, without the compile cache that running processes write.
 */
export async function copyBuild(/** @type {string} */ main, /** @type {string} */ into) {
  const others = ['compile-cache', 'package.json'].map((name) => join(dirname(main), name));
  await cp(dirname(main), into, { recursive: true, filter: (path) => !others.includes(path) });
}

/** Moves a folder to its final name, unless another suite has created it meanwhile. */
async function publish(/** @type {string} */ made, /** @type {string} */ folder) {
  await rename(made, folder).catch(() => rm(made, { recursive: true }));
}

async function removeOld() {
  for (const name of await readdir(parent)) {
    if (!/^keyfront-(build|modules|mutant|faults)-/.test(name)) continue;
    const path = join(parent, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > dayMs) await rm(path, { recursive: true, force: true });
  }
}

/** Compiles the modules without a check of their types, which takes most of the time; `npm run typecheck` does it. */
async function compile() {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'keyfront-modules-'));
  // Declarations have no code.
  const modules = fileNames.filter((fileName) => !fileName.endsWith('.d.ts'));
  for (const fileName of modules) await writeModule(folder, fileName, await readFile(fileName, 'utf8'));
  return folder;
}

/** @type {(folder: string, fileName: string, source: string) => Promise<void>} */
async function writeModule(folder, fileName, source) {
  const { outputText } = ts.transpileModule(source, { compilerOptions, fileName });
  const target = join(folder, relative(join(root, 'src'), fileName)).replace(/\.ts$/, '.js');
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, outputText);
}

/**
 * Bundles the modules with the edits of the mutant.
 *
 * @type {(sound: string, mutant: import('../mutants/mutant.mjs').Mutant | undefined) => Promise<string>}
 */
async function link(sound, mutant) {
  const modules = await mkdtemp(join(parent, 'keyfront-mutant-'));
  await cp(sound, modules, { recursive: true });
  for (const file of new Set(mutant?.edits.map((edit) => edit.file))) {
    const source = await readFile(join(root, file), 'utf8');
    if (mutant) await writeModule(modules, join(root, file), applyMutant(mutant, file, source));
  }
  const folder = await mkdtemp(join(parent, 'keyfront-e2e-'));
  await bundle(modules, folder);
  await rm(modules, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}
