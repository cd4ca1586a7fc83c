// @ts-check
import { graphqlChanges } from './graphql-changes.mjs';
import { openAPIChanges } from './openapi-changes.mjs';

/**
 * A change of a contract that clients may notice, and the place of what changed: a GraphQL schema coordinate, or a
 * path or property of REST.
 * @typedef {{ isBreaking: boolean, coordinate: string, message: string }} Change
 */

/**
 * `refused` are the breaking changes that the changelog does not name.
 * @typedef {{ refused: readonly Change[], named: readonly Change[], dangerous: readonly Change[] }} Verdict
 */

/** @type {Readonly<Record<string, (base: string, current: string) => Change[] | Promise<Change[]>>>} */
const readers = {
  'schema/schema.graphql': graphqlChanges,
  'schema/subgraph.graphql': graphqlChanges,
  'schema/openapi.json': openAPIChanges,
};

/** The files in which a contract is committed. */
export const contracts = Object.keys(readers);

/**
 * Judges what became of a contract. One that is new breaks nobody; undefined stands for a file that is not there.
 * @param {string} file
 * @param {string | undefined} base
 * @param {string | undefined} current
 * @param {string} changelog
 * @returns {Promise<Verdict>}
 */
export async function verdictOn(file, base, current, changelog) {
  const changes = await changesOf(file, base, current);
  const words = unreleased(changelog);
  const breaking = changes.filter(({ isBreaking }) => isBreaking);
  const isNamed = (/** @type {Change} */ { coordinate }) => words.includes(`\`${coordinate}\``);
  return {
    refused: breaking.filter((change) => !isNamed(change)),
    named: breaking.filter(isNamed),
    dangerous: changes.filter(({ isBreaking }) => !isBreaking),
  };
}

/**
 * @param {string} file
 * @param {string | undefined} base
 * @param {string | undefined} current
 */
async function changesOf(file, base, current) {
  if (base === undefined || base === current) return [];
  if (current === undefined) return [{ isBreaking: true, coordinate: file, message: 'The contract was removed' }];
  const read = readers[file];
  if (!read) throw new Error(`${file} is no contract that is known here.`);
  return read(base, current);
}

/** @param {string} changelog */
function unreleased(changelog) {
  return /^## Unreleased$(.*?)(?=^## |(?![^]))/ms.exec(changelog)?.[1] ?? '';
}
