import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * The bill of materials (CycloneDX) of what is shipped: the packages in the bundle, whose folders are given relative to the
 * project's, and those that are installed at runtime with them. Optional are those for other platforms and the pinned Node.
 */
export async function billOfMaterials(/** @type {readonly string[]} */ bundled) {
  const { name, version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path].dev !== true);
  const bom = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 };
  const component = { type: 'application', name, version, purl: purlOf(name, version), licenses: licenses(license) };
  const components = [
    ...bundled.map((path) => componentOf(path, packages[path], 'bundled')),
    ...installed.map((path) => componentOf(path, packages[path], 'installed')),
  ];
  components.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  return { ...bom, metadata: { component }, components };
}

function componentOf(/** @type {string} */ path, /** @type {any} */ locked, /** @type {string} */ shipped) {
  const name = locked.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, license, integrity, optional } = locked;
  const [algorithm, hash] = integrity.split('-');
  return {
    'bom-ref': path,
    type: 'library',
    name,
    version,
    scope: optional === true ? 'optional' : 'required',
    purl: purlOf(name, version),
    licenses: licenses(license),
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
    properties: [{ name: 'keyfront:shipped', value: shipped }],
  };
}

const purlOf = (/** @type {string} */ name, /** @type {string} */ version) =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

const licenses = (/** @type {string} */ expression) => [{ expression }];
