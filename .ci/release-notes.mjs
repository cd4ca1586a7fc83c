// Prints the section of CHANGELOG.md of the version in package.json, as notes of its release: node .ci/release-notes.mjs v0.2.0
// Fails when the tag, package.json, package-lock.json and CHANGELOG.md do not have the same version.
import { readFileSync } from 'node:fs';

const [, , tag] = process.argv;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const locked = JSON.parse(readFileSync('package-lock.json', 'utf8')).version;
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const sections = changelog.split(/^(?=## )/m).slice(1);
const notes = sections.find((section) => section.startsWith(`## ${version} - `));

const problems = [
  tag !== `v${version}` && `The tag is ${tag}, and the version in package.json is ${version}.`,
  locked !== version && `The version in package-lock.json is ${locked}, and in package.json ${version}.`,
  notes === undefined && `CHANGELOG.md has no section "## ${version} - DATE".`,
].filter((problem) => problem !== false);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(notes.slice(notes.indexOf('\n')).trim());
