// @ts-check
import { graphqlChanges } from './graphql-changes.mjs';
import { openAPIChanges } from './openapi-changes.mjs';

/**
 * A change of a contract that clients may notice, and the place of what changed: a GraphQL schema coordinate, or a
 * path or property of REST.
 * @typedef {{ isBreaking: boolean, coordinate: string, message: string }} Change
 */

/**
 * `named` are the changes for which the changelog gained an entry since the base, `rejected` all others.
 * @typedef {{ rejected: readonly Change[], named: readonly Change[] }} ChangesByVerdict
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
 * Judges the changes of a contract, breaking and dangerous ones alike. A new contract breaks no client; undefined stands
 * for a file that does not exist. A change is named when its place stands in backquotes under Unreleased or in a release that
 * the changelog of the base lacks, and in the whole changelog more often than in that of the base: an entry of an earlier
 * change permits no later one.
 * @param {string} file
 * @param {string | undefined} base
 * @param {string | undefined} current
 * @param {string} changelog
 * @param {string} baseChangelog
 * @returns {Promise<ChangesByVerdict>}
 */
export async function verdictOn(file, base, current, changelog, baseChangelog) {
  const changes = await changesOf(file, base, current);
  const isNamed = (/** @type {Change} */ { coordinate }) =>
    mentions(newSections(changelog, baseChangelog), coordinate) > 0 &&
    mentions(changelog, coordinate) > mentions(baseChangelog, coordinate);
  return { rejected: changes.filter((change) => !isNamed(change)), named: changes.filter(isNamed) };
}

/**
 * @param {string} text
 * @param {string} coordinate
 */
function mentions(text, coordinate) {
  return text.split(`\`${coordinate}\``).length - 1;
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

/**
 * Unreleased, and the releases since the base.
 * @param {string} changelog
 * @param {string} baseChangelog
 */
function newSections(changelog, baseChangelog) {
  const sections = changelog.split(/^(?=## )/m).filter((section) => section.startsWith('## '));
  const headings = new Set(baseChangelog.split('\n'));
  const headingOf = (/** @type {string} */ section) => section.split('\n', 1)[0] ?? '';
  return sections
    .filter((section) => headingOf(section) === '## Unreleased' || !headings.has(headingOf(section)))
    .join('');
}
