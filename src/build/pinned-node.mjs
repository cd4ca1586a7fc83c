// The Node of a clone: the machine's own if the program runs on it, otherwise the one of `node/package-lock.json`.

/**
 * Whether the program runs on a version of Node: `engines` of package.json as code. `src/bin/launch.ts` has the same rule
 * for what is built.
 */
export function isSupported(/** @type {string} */ version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 ? minor >= 15 : major === 24 || major >= 26;
}

/**
 * @typedef {{ platform: string, arch: string, libc?: 'glibc' | 'musl' | undefined }} Host `libc` on Linux only.
 * @typedef {{ os?: string, cpu?: string }} LockedPackage
 */

/**
 * The package of the lockfile that has a Node for the host, or undefined: none is for musl.
 *
 * @type {(host: Host, packages: Readonly<Record<string, LockedPackage>>) => string | undefined}
 */
export function nodePackageFor({ platform, arch, libc }, packages) {
  if (libc === 'musl') return undefined;
  const found = Object.entries(packages).find(([, { os, cpu }]) => os === platform && cpu === arch);
  return found?.[0].slice('node_modules/'.length);
}

/** This machine. A Node that was built for musl reports no version of glibc. */
export function thisHost() {
  const { platform, arch } = process;
  if (platform !== 'linux') return { platform, arch };
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return { platform, arch, libc: /** @type {const} */ (header.glibcVersionRuntime === undefined ? 'musl' : 'glibc') };
}

/** What to do where no Node can be installed. */
export function adviceFor(/** @type {string} */ version, /** @type {Host} */ { platform, arch, libc }) {
  const name = [platform, arch, libc].filter((part) => part !== undefined).join(' ');
  return `Keyfront needs Node 22.15 or later, 24, or 26 or later. This is Node ${version}, and npm has no newer one for ${name}. Install Node 24 (https://nodejs.org), then run npm ci again.`;
}
