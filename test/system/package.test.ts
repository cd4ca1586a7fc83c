import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { build as bundleForBrowsers } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as ClientModule from '../../src/client/client.js';
import type { Client } from '../../src/client/client.js';
import { bundle } from '../../src/build/bundle.mjs';
import { publishedManifest } from '../../src/build/manifest.mjs';
import { blocksOf } from '../support/documents.js';
import { isPermissive } from '../support/licenses.js';
import { packShipped } from '../support/packed.js';
import { secretsIn } from '../support/secrets.js';
import { startServer } from '../support/server.js';
import { until } from '../support/until.js';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

let place: string;
/** The tarballs of what ships. */
let packed: { server: string; client: string };
/** An empty project, into which npm installs the packed server and the packed client. */
let fresh: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'keyfront-package-'));
  packed = await packShipped(place);
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
const repository = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown> & {
  readonly version: string;
  readonly engines: object;
  readonly dependencies: Readonly<Record<string, string>>;
};

interface Lockfile {
  readonly packages: Readonly<Record<string, { version: string; integrity?: string; dev?: boolean }>>;
}

interface BillOfMaterials {
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly version: string;
    readonly purl: string;
    readonly hashes: readonly [{ readonly content: string }];
    readonly properties: readonly [{ readonly value: 'bundled' | 'installed' }];
  }[];
}

/** The line above each license in `licenses.txt`: the name of the package, and the license in parentheses. */
const licenseHeads = /^((?:@[\w.-]+\/)?[\w.-]+) \(([^()]+(?:\([^()]*\))?)\)$/gm;

/** Installs a tarball with npm. Returns its size in bytes. */
async function install(file: string): Promise<number> {
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
  it('is smaller than 90 kB, an ECMAScript module without dependencies, with the version of the server', async () => {
    expect(await install(packed.client)).toBeLessThan(90_000);
    const manifest = await manifestOf(join(fresh, 'node_modules', 'keyfront-client'));
    expect(manifest).toMatchObject({ type: 'module', version: repository.version });
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
  let folder: string;
  beforeAll(async () => {
    await install(packed.server);
    folder = join(fresh, 'node_modules', 'keyfront');
  });
  const textOf = (path: string) => readFile(join(folder, path), 'utf8');

  it('has the manifest for its users, without packages and scripts of the repository', async () => {
    const manifest: Record<string, unknown> = { ...(await manifestOf(folder)) };
    const members = ['name', 'version', 'description', 'keywords', 'license', 'type', 'engines', 'bin', 'exports'];
    expect(Object.keys(manifest)).toEqual([...members, 'dependencies']);
    const { dependencies, engines } = repository;
    expect(manifest).toMatchObject({ dependencies, engines, bin: { keyfront: 'dist/bin/keyfront.js' } });
    // The addresses follow when there are some.
    expect(publishedManifest({ ...repository, homepage: 'https://keys.example' })).toMatchObject({
      homepage: 'https://keys.example',
    });
  });

  it('runs its command after npm has installed it', async () => {
    const env = { PATH: process.env['PATH'], HOME: place, KEYFRONT_DATA: join(place, 'data') };
    const keyfront = (...args: string[]) => run(join('node_modules', '.bin', 'keyfront'), args, { cwd: fresh, env });
    expect((await keyfront('--version')).stdout.trim()).toBe(repository.version);
    expect((await keyfront('credentials', 'issue', '--kind', 'service', '--label', 'test')).stdout).toMatch(/kf_svc_/);
  });

  it('contains the client, which runs and has types', () => checkClient('keyfront/client'));

  it('P-05 contains the program, schemas, documents and the license, and neither a test nor a secret', async () => {
    // From the tarball, because the program that ran above keeps compiled code in its folder.
    const { stdout } = await run('tar', ['-tzf', packed.server]);
    const files = stdout
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''));
    const expected = [
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/,
      /^(docs|schema)\/.+/,
      /^dist\/(bin\/)?[\w-]+\.js$/,
      /^dist\/browser\/(graphiql|docs|console)\/[\w.-]+$/,
      /^dist\/(licenses\.txt|keyfront\.cdx\.json)$/,
      /^dist\/client\/(.+\.js|.+\.d\.ts|package\.json|README\.md|LICENSE|(schema|subgraph)\.graphql)$/,
    ];
    expect(files.filter((path) => !expected.some((pattern) => pattern.test(path)))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(['dist/main.js', 'dist/client/client.d.ts', 'schema/schema.graphql', 'LICENSE']),
    );
    const texts = await Promise.all(files.map(async (path) => [path, await textOf(path)] as const));
    expect(texts.flatMap(([path, text]) => secretsIn(path, text))).toEqual([]);
  });

  it('contains what its README links to', async () => {
    // What is for contributors, such as pictures and tests, is in the repository only.
    const links = [
      ...(await textOf('README.md')).matchAll(/\]\(((?:docs|schema|CHANGELOG|SECURITY|LICENSE)[^)#]*)/g),
    ].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(2);
    const missing = links.filter((path) => !existsSync(join(folder, path)));
    expect(missing).toEqual([]);
  });

  it('P-02 bundles packages whose licenses are permitted, and none that is installed at runtime too', async () => {
    const bundled = [...(await textOf('dist/licenses.txt')).matchAll(licenseHeads)];
    expect(bundled.map(([, name]) => name)).toEqual(
      expect.arrayContaining(['graphql', 'graphql-yoga', 'swagger-ui-dist', 'zod']),
    );
    expect(bundled.filter(([, , license = 'none']) => !isPermissive(license)).map(([line]) => line)).toEqual([]);
    expect(bundled.filter(([, name = '']) => name in repository.dependencies)).toEqual([]);
  });

  it('P-03 lists in its bill of materials what is bundled and what is installed at runtime, with hashes', async () => {
    const bill = JSON.parse(await textOf('dist/keyfront.cdx.json')) as BillOfMaterials;
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { version: repository.version } } });
    const shipped = (how: string) => bill.components.filter(({ properties }) => properties[0].value === how);
    const pathsOf = (how: string) => shipped(how).map((component) => component['bom-ref']);
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
    const inProduction = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true);
    expect(pathsOf('installed').toSorted()).toEqual(inProduction.toSorted());
    const named = [...(await textOf('dist/licenses.txt')).matchAll(licenseHeads)].map(([, name]) => name);
    const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    expect(pathsOf('bundled').map(nameOf).toSorted()).toEqual(named.toSorted());
    for (const { 'bom-ref': path, version, purl, hashes } of bill.components) {
      const hash = Buffer.from(hashes[0].content, 'hex').toString('base64');
      const locked = packages[path];
      expect([path, version, `sha512-${hash}`]).toEqual([path, locked?.version, locked?.integrity]);
      expect(purl).toBe(`pkg:npm/${nameOf(path).replace('@', '%40')}@${version}`);
    }
  });

  it('P-03 has the same bytes after a second build', async () => {
    const again = join(place, 'again');
    await bundle(join(root, 'build'), again);
    const entries = await readdir(again, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files.length).toBeGreaterThan(30);
    const different: string[] = [];
    for (const file of files) {
      const path = relative(again, file);
      const [first, second] = await Promise.all([readFile(join(folder, 'dist', path)), readFile(file)]);
      if (!first.equals(second)) different.push(path);
    }
    expect(different).toEqual([]);
  });
});
