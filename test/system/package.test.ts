import { execFile } from 'node:child_process';
import { cp, copyFile, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build as bundleForBrowsers } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as ClientModule from '../../src/client/client.js';
import type { Client } from '../../src/client/client.js';
import { buildMain, copyBuild } from '../support/build.mjs';
import { blocksOf } from '../support/documents.js';
import { startServer } from '../support/server.js';
import { until } from '../support/until.js';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** The documents that the README links to and that users of the package need. */
const userDocuments = ['CHANGELOG.md', 'SECURITY.md'];

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
  for (const name of ['schema', 'docs']) await cp(join(root, name), join(project, name), { recursive: true });
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

describe('a dashboard with keyfront-client and documents of its own', () => {
  let dashboard: string;
  beforeAll(async () => {
    dashboard = join(place, 'dashboard');
    await mkdir(join(dashboard, 'src'), { recursive: true });
    await mkdir(join(dashboard, 'node_modules'));
    await writeFile(join(dashboard, 'package.json'), '{"type":"module"}');
    await cp(join(fresh, 'node_modules', 'keyfront-client'), join(dashboard, 'node_modules', 'keyfront-client'), {
      recursive: true,
    });
    for (const name of ['@graphql-codegen', '@graphql-typed-document-node', 'graphql']) {
      await symlink(join(root, 'node_modules', name), join(dashboard, 'node_modules', name));
    }
    await copyFile(join(root, 'docs', 'examples', 'dashboard-page.ts'), join(dashboard, 'src', 'dashboard-page.ts'));
  });

  it('compiles the example after the recipe of its README', async () => {
    const readme = await readFile(join(dashboard, 'node_modules', 'keyfront-client', 'README.md'), 'utf8');
    const recipe = blocksOf(readme).find(({ title }) => title === '// codegen.ts')?.text ?? '';
    await writeFile(join(dashboard, 'codegen.ts'), recipe);
    // Both builds of graphql would otherwise be loaded, as in the script `generate`.
    const env = {
      ...process.env,
      JITI_ALIAS: JSON.stringify({ graphql: join(root, 'node_modules/graphql/index.mjs') }),
    };
    const codegen = join(root, 'node_modules', '@graphql-codegen', 'cli', 'esm', 'bin.js');
    await run(process.execPath, [codegen, '--config', 'codegen.ts'], { cwd: dashboard, env });
    const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--module', 'nodenext'];
    const files = ['--outDir', 'out', '--target', 'es2023', '--lib', 'es2023,dom', 'src/dashboard-page.ts'];
    await run(process.execPath, [compiler, ...options, ...files], { cwd: dashboard });
  });

  it('reads, creates and follows keys with the example', async () => {
    const page = (await import(join(dashboard, 'out', 'dashboard-page.js'))) as DashboardPage;
    const { createClient } = (await import(
      join(dashboard, 'node_modules', 'keyfront-client', 'client.js')
    )) as typeof ClientModule;
    const server = await startServer();
    const over = new AbortController();
    try {
      const client = createClient({ url: server.url, service: server.t.service });
      await server.t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'One', quota_max: 9223372036854775807n });
      const tables: string[][][] = [];
      const shown = page.showKeys(client, 'acme', tableInto(tables), over.signal);
      await until(() => tables.at(-1)?.length === 1);
      expect(tables.at(-1)).toEqual([['One', 'ACTIVE', expect.stringMatching(/^0 of 9\D223\D372/)]]);
      const keyID = await page.createKey(client, 'acme', 'Two', 'order-1');
      expect(await page.createKey(client, 'acme', 'Two', 'order-1')).toBe(keyID);
      await until(() => tables.at(-1)?.length === 2);
      expect(
        tables
          .at(-1)
          ?.map(([alias]) => alias)
          .toSorted(),
      ).toEqual(['One', 'Two']);
      over.abort();
      await shown;
    } finally {
      over.abort();
      await server.close();
    }
  });

  it('finds both schemas in the package', async () => {
    const resolved = ['schema', 'subgraph'].map((name) => `require.resolve('keyfront-client/${name}.graphql')`);
    const { stdout } = await run(process.execPath, ['-p', `[${resolved.join()}].join('\\n')`], { cwd: dashboard });
    for (const path of stdout.trim().split('\n')) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      expect(await readFile(path, 'utf8')).toBe(await readFile(join(root, 'schema', name), 'utf8'));
    }
  });
});

/** What the example exports. */
interface DashboardPage {
  readonly createKey: (client: Client, orgID: string, alias: string, order: string) => Promise<string>;
  readonly showKeys: (client: Client, orgID: string, table: object, signal: AbortSignal) => Promise<void>;
}

/** A table whose contents are kept each time that its rows are replaced. */
function tableInto(tables: string[][][]): object {
  return {
    replaceChildren: () => tables.push([]),
    insertRow: () => {
      const row: string[] = [];
      tables.at(-1)?.push(row);
      return {
        insertCell: () => ({
          set textContent(text: string) {
            row.push(text);
          },
        }),
      };
    },
  };
}

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
