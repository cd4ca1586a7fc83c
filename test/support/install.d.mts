/**
 * Installs the packages of a folder that has its own package.json and package-lock.json, unless those of this lockfile are
 * installed already.
 *
 * @throws an error if npm fails, for example without a network.
 */
export function installFolder(folder: string): void;
