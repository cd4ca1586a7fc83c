// Describes the machine and the versions of a measurement.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';

const root = new URL('../..', import.meta.url).pathname;
const peers = new URL('peers/', import.meta.url).pathname;
const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

export function describeMachine() {
  return {
    date: new Date().toISOString(),
    commit: `${git('rev-parse', '--short', 'HEAD')}${isChanged() ? ', with changes' : ''}`,
    machine: `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    /** Load average of the last minute; 0 on an idle machine. */
    loadAverage: loadavg()[0] ?? NaN,
  };
}

/** Creates the folder for the results of this day and commit. */
export function resultsFolder() {
  const day = new Date().toISOString().slice(0, 10);
  return join(root, 'test/bench/results', `${day}-${git('rev-parse', '--short', 'HEAD')}`);
}

/** Returns the versions of Node, SQLite and all compared packages. */
export function versions() {
  const packages = {
    [root]: ['graphql', 'graphql-yoga', 'zod', 'better-sqlite3'],
    [peers]: ['@apollo/server', 'fastify', 'mercurius', 'graphql-jit', '@omnigraph/openapi'],
  };
  const found = Object.entries(packages).flatMap(([folder, names]) =>
    names.map((name) => /** @type {const} */ ([name, versionIn(join(folder, 'node_modules', name, 'package.json'))])),
  );
  return { node: process.version, sqlite: sqliteVersion(), ...Object.fromEntries(found) };
}

function isChanged() {
  return git('status', '--porcelain', '--untracked-files=no') !== '';
}

function versionIn(/** @type {string} */ manifest) {
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : 'not installed';
}

function sqliteVersion() {
  const database = new Database(':memory:');
  const version = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  return version;
}
