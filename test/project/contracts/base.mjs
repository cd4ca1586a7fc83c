// @ts-check
import { execFileSync } from 'node:child_process';

/** @typedef {{ commit: string, reason: string }} Base */

/**
 * The commits that the contracts are compared with:
 *
 * - `wanted` (`SCHEMA_BASE`) when it is given;
 * - on a branch, the commit where it left origin/main, or main when there is no remote;
 * - on main itself, `since` (`contracts.since` of package.json) and every commit after it that changed schema/. A break
 *   is then found however many commits ago it landed, and the entry that permits it must be younger than what it breaks.
 *
 * None when this is no clone, or one that lacks `since`, such as a clone of a single commit.
 *
 * @param {string} folder
 * @param {string | undefined} wanted
 * @param {string | undefined} since
 * @returns {readonly Base[]}
 * @throws {Error} when `wanted` names no commit.
 */
export function basesOf(folder, wanted, since) {
  if (wanted) {
    const commit = commitOf(folder, wanted);
    if (commit === undefined) {
      throw new Error(
        `SCHEMA_BASE is ${wanted}, and no commit of this clone has that name. Fetch it, or name another.`,
      );
    }
    return [{ commit, reason: 'SCHEMA_BASE' }];
  }
  const head = commitOf(folder, 'HEAD');
  for (const main of ['origin/main', 'main']) {
    const fork = git(folder, 'merge-base', 'HEAD', main);
    if (fork !== undefined && fork !== head) return [{ commit: fork, reason: `where the branch left ${main}` }];
  }
  return landedStates(folder, since);
}

/**
 * @param {string} folder
 * @param {string | undefined} since
 * @returns {readonly Base[]}
 */
function landedStates(folder, since) {
  const start = since === undefined ? undefined : commitOf(folder, since);
  if (since !== undefined && start === undefined) return [];
  const range = start === undefined ? 'HEAD' : `${start}..HEAD`;
  const listed = git(folder, 'rev-list', '--first-parent', '--end-of-options', range, '--', 'schema') ?? '';
  const commits = listed.split('\n').filter((line) => line !== '');
  return [
    ...(start === undefined ? [] : [{ commit: start, reason: 'contracts.since of package.json' }]),
    ...commits.map((commit) => ({ commit, reason: 'a commit of main that changed schema/' })),
  ];
}

/**
 * A file as it was in a commit; undefined where it was not.
 * @param {string} folder
 * @param {string} commit
 * @param {string} file
 */
export function fileAt(folder, commit, file) {
  const exists = git(folder, 'cat-file', '-e', `${commit}:${file}`) !== undefined;
  return exists ? git(folder, 'show', `${commit}:${file}`) : undefined;
}

/**
 * @param {string} folder
 * @param {string} name
 */
function commitOf(folder, name) {
  return git(folder, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
}

/**
 * What git printed; undefined where it failed.
 * @param {string} folder
 * @param {...string} args
 */
function git(folder, ...args) {
  try {
    return execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trimEnd();
  } catch {
    return undefined;
  }
}
