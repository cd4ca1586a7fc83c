// @ts-check
import { execFileSync } from 'node:child_process';

/** @typedef {{ commit: string, reason: string }} Base */

/**
 * The commit that contracts are compared with: `SCHEMA_BASE`, else where the branch left origin/main, else the commit
 * before. Undefined where there is none of these, as in a clone of a single commit. Throws where `SCHEMA_BASE` names
 * nothing.
 * @param {string} folder
 * @param {string | undefined} wanted
 * @returns {Base | undefined}
 */
export function baseOf(folder, wanted) {
  if (wanted) {
    const commit = commitOf(folder, wanted);
    if (commit === undefined) throw new Error(`SCHEMA_BASE is ${wanted}, which is no commit here.`);
    return { commit, reason: 'SCHEMA_BASE' };
  }
  const head = commitOf(folder, 'HEAD');
  const fork = git(folder, 'merge-base', 'HEAD', 'origin/main');
  if (fork !== undefined && fork !== head) return { commit: fork, reason: 'where the branch left origin/main' };
  const parent = commitOf(folder, 'HEAD^');
  return parent === undefined ? undefined : { commit: parent, reason: 'the commit before' };
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
 * @param {...string} words
 */
function git(folder, ...words) {
  try {
    return execFileSync('git', words, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trimEnd();
  } catch {
    return undefined;
  }
}
