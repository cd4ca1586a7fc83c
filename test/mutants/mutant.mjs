import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A replacement of whole lines in a source file, whose path is from the root of the project.
 *
 * @typedef {{ readonly file: string, readonly lines: string, readonly replacement: string }} Edit
 */

/**
 * A bug that is injected into the source, to show that tests detect it. `name` is its file in this folder without
 * `.diff`; `detectedBy` are the test files that must fail.
 *
 * @typedef {{
 *   readonly name: string,
 *   readonly description: string,
 *   readonly detectedBy: readonly string[],
 *   readonly edits: readonly Edit[],
 * }} Mutant
 */

const suffix = '.diff';

/** Returns the names of all mutants. */
export function mutantNames() {
  return readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(suffix))
    .map((path) => path.slice(0, -suffix.length))
    .toSorted();
}

/**
 * Reads a mutant: a description, a line `Detected by:` with test files, and hunks in the form of a diff without line
 * numbers. A hunk begins with `--- FILE`, or with `@@` if it is of the same file as the hunk before.
 *
 * @returns {Mutant}
 */
export function readMutant(/** @type {string} */ name) {
  const [head = '', ...files] = readFileSync(join(import.meta.dirname, `${name}${suffix}`), 'utf8').split(/^--- /m);
  const { description = '', tests = '' } = /^(?<description>.+?)\nDetected by: (?<tests>.+)$/s.exec(head)?.groups ?? {};
  const edits = files.flatMap((text) => {
    const [file = '', ...lines] = text.trimEnd().split('\n');
    return `${lines.join('\n')}\n`
      .split(/^@@\n/m)
      .map((hunk) => ({ file, lines: sideOf(hunk, '-'), replacement: sideOf(hunk, '+') }));
  });
  return { name, description, detectedBy: tests.trim().split(/\s+/), edits };
}

/** Whether `npm test` runs the file. */
export function isOfQuickTests(/** @type {string} */ file) {
  return /^test\/(unit|service|storage|project)\//.test(file);
}

/** The lines of one side of a hunk with their context. Editors remove the blank of an empty line. */
function sideOf(/** @type {string} */ hunk, /** @type {'-' | '+'} */ sign) {
  const lines = hunk.split('\n').filter((line) => line === '' || line.startsWith(' ') || line.startsWith(sign));
  return lines.map((line) => line.slice(1)).join('\n');
}

/**
 * Returns the source of a file with the edits of a mutant.
 *
 * @type {(mutant: Pick<Mutant, 'name' | 'edits'>, file: string, source: string) => string}
 * @throws {Error} when the lines of an edit are not in the file exactly once.
 */
export function applyMutant({ name, edits }, file, original) {
  return edits
    .filter((edit) => edit.file === file)
    .reduce((text, { lines, replacement }) => {
      const [source, part] = [`\n${text}`, `\n${lines}`];
      const start = source.indexOf(part);
      if (start === -1 || start !== source.lastIndexOf(part)) {
        const found = start === -1 ? 'never' : 'several times';
        throw new Error(
          `test/mutants/${name}.diff must match ${file} once, and matches ${found}. Update these lines:\n${lines}`,
        );
      }
      return text.slice(0, start) + replacement + text.slice(start + lines.length);
    }, original);
}
