import { execFile } from 'node:child_process';
import { cp, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build as bundleForBrowsers } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildMain, copyBuild } from '../support/build.mjs';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** The documents that the README links to and that users of the package need. */
const userDocuments = ['CHANGELOG.md', 'OPERATING.md', 'SECURITY.md'];

let main: string;
let place: string;
/** What is packed: the project with its build, without packages. */
let project: string;
/** An empty project, into which npm installs the packed server and the packed client. */
let fresh: string;
beforeAll(async () => {
  main = await buildMain();
  place = await mkdtemp(join(tmpdir(), 'keyfront-package-'));
  project = join(place, 'project');
  await copyBuild(main, join(project, 'dist'));
  const client = ['-p', join(root, 'src', 'client', 'tsconfig.json'), '--outDir', join(project, 'dist', 'client')];
  await run(process.execPath, [compiler, ...client]);
  await cp(join(root, 'schema'), join(project, 'schema'), { recursive: true });
  for (const name of ['package.json', 'LICENSE', 'README.md', ...userDocuments]) {
    await copyFile(join(root, name), join(project, name));
  }
  fresh = join(place, 'fresh');
  await mkdir(fresh);
  await writeFile(join(fresh, 'package.json'), '{"type":"module"}');
}, 240_000);
afterAll(async () => {
  await rm(place, { recursive: true });
});

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}
const manifestOf = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Packs a folder and installs the package with npm. Returns the size of the packed file in bytes. */
async function install(folder: string): Promise<number> {
  const pack = ['pack', folder, '--ignore-scripts', '--json', '--pack-destination', place];
  const { stdout } = await run('npm', pack, { cwd: place, maxBuffer: 2 ** 26 });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const file = join(place, filename);
  await run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', file], {
    cwd: fresh,
  });
  return (await stat(file)).size;
}

const use = (module: string) => `
  import { createClient, KeyfrontError, OrgKeyDocument } from '${module}';
  const client = createClient({ url: 'http://127.0.0.1:1', service: 'x' });
  const version = client.send(OrgKeyDocument, { by: { keyID: 'k' } }).then(({ data }) => data.orgKey?.version);
  version.catch((error) => console.log(error instanceof KeyfrontError, OrgKeyDocument.length > 100));
`;

async function checkClient(module: string): Promise<void> {
  const name = module.replace('/', '-');
  await writeFile(join(fresh, `${name}.mjs`), use(module));
  expect((await run(process.execPath, [`${name}.mjs`], { cwd: fresh })).stdout).toBe('true true\n');
  const typed = use(module).replace('(error)', '(error: unknown)');
  await writeFile(join(fresh, `${name}-right.mts`), `${typed}export const a: Promise<number | undefined> = version;`);
  await writeFile(join(fresh, `${name}-wrong.mts`), `${typed}export const a: Promise<string | undefined> = version;`);
  // No types but those of the browser: neither Node's nor a package's.
  const compile = (file: string) => {
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--lib', 'es2023,dom'];
    return run(process.execPath, [compiler, ...options, file], { cwd: fresh });
  };
  await compile(`${name}-right.mts`);
  await expect(compile(`${name}-wrong.mts`)).rejects.toMatchObject({
    stdout: expect.stringContaining("'number | undefined' is not assignable"),
  });
}

describe('the package keyfront-client', () => {
  it('is smaller than 60 kB, an ECMAScript module without dependencies, with the version of the server', async () => {
    expect(await install(join(project, 'dist', 'client'))).toBeLessThan(60_000);
    const manifest = await manifestOf(join(fresh, 'node_modules', 'keyfront-client'));
    expect(manifest).toMatchObject({ type: 'module', version: (await manifestOf(root)).version });
    expect(Object.keys(manifest).filter((member) => /dependencies/i.test(member))).toEqual([]);
  });

  it('runs and has types in a project without other packages', () => checkClient('keyfront-client'));

  it('is bundled for browsers, without other packages and without a module of Node', async () => {
    const entry = join(fresh, 'entry.mjs');
    await writeFile(entry, use('keyfront-client'));
    const { outputFiles, metafile } = await bundleForBrowsers({
      entryPoints: [entry],
      absWorkingDir: fresh,
      bundle: true,
      platform: 'browser',
      format: 'esm',
      metafile: true,
      write: false,
    });
    const inputs = Object.keys(metafile.inputs).filter((path) => path !== 'entry.mjs');
    expect(inputs.filter((path) => !path.startsWith('node_modules/keyfront-client/'))).toEqual([]);
    expect(inputs.length).toBeGreaterThan(2);
    expect(outputFiles[0]?.text).not.toMatch(/\bprocess\.|\brequire\(/);
  });
});

describe('the package keyfront', () => {
  it('runs its command after npm has installed it', async () => {
    await install(project);
    const env = { PATH: process.env['PATH'], HOME: place, KEYFRONT_DATA: join(place, 'data') };
    const keyfront = (...args: string[]) => run(join('node_modules', '.bin', 'keyfront'), args, { cwd: fresh, env });
    expect((await keyfront('--version')).stdout.trim()).toContain((await manifestOf(root)).version);
    expect((await keyfront('credentials', 'issue', '--kind', 'service', '--label', 'test')).stdout).toMatch(/kf_svc_/);
  });

  it('contains the client, which runs and has types', () => checkClient('keyfront/client'));

  it('contains the documents for users to which its README links', async () => {
    const packed = join(fresh, 'node_modules', 'keyfront');
    const readme = await readFile(join(packed, 'README.md'), 'utf8');
    for (const name of userDocuments) {
      expect(readme).toContain(`](${name})`);
      expect((await stat(join(packed, name))).isFile()).toBe(true);
    }
  });
});
