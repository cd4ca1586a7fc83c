// Packs the build in `dist`, installs it into an empty project as its users do, and runs it:
//   node .ci/smoke.mjs [--npm FILE] [--fails NODE] [NODE ...]
// --npm: the npm to use instead of the one in PATH (its npm-cli.js). NODE: programs to run it with, by default this one.
// --fails: a Node that is too old, which must say so. Runs on every platform.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  options: { npm: { type: 'string' }, fails: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});
const nodes = positionals.length === 0 ? [process.execPath] : positionals;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const isWindows = process.platform === 'win32';

const place = mkdtempSync(join(tmpdir(), 'keyfront-smoke-'));
const project = join(place, 'project');
const env = { ...process.env, PORT: '0', KEYFRONT_DATA: join(place, 'data') };

function npm(...args) {
  const [file, first, shell] =
    values.npm === undefined ? ['npm', [], isWindows] : [process.execPath, [values.npm], false];
  return execFileSync(file, [...first, ...args], { cwd: project, env, shell, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** The command as npm has installed it, with a Node: what `npx keyfront` runs if this Node is the one in PATH. */
const program = join(project, 'node_modules/keyfront/dist/bin/keyfront.js');
const keyfront = (node, ...args) => spawnSync(node, [program, ...args], { cwd: project, env, encoding: 'utf8' });

async function serve(node) {
  const service = spawn(node, [program, 'serve'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => service.on('exit', (code, signal) => resolve(code ?? signal)));
  let printed = '';
  service.stderr.on('data', (text) => {
    printed += text;
  });
  const listening = new Promise((resolve) => {
    service.stdout.on('data', (text) => {
      printed += text;
      const [, url] = /listens on (http:\S+)/.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    });
    service.on('exit', () => resolve(undefined));
  });
  const url = await listening;
  assert.ok(url, `keyfront serve ended before it listened:\n${printed}`);
  assert.equal((await fetch(`${url}/ready`)).status, 200);
  for (const page of ['console', 'docs']) assert.equal((await fetch(`${url}/${page}`)).status, 200, page);
  service.kill();
  const end = await exited;
  // On Windows, a process is ended without a signal that it could handle.
  if (!isWindows) assert.equal(end, 0);
}

try {
  mkdirSync(project);
  const packing = [join(root, 'src/build/pack.mjs'), place];
  execFileSync(process.execPath, packing, { cwd: root, stdio: ['ignore', 'ignore', 2] });
  writeFileSync(join(project, 'package.json'), '{"private":true}\n');
  npm('install', '--no-audit', '--no-fund', join(place, `keyfront-${version}.tgz`));
  check('npm install');
  // With this option npm does not run node-gyp for better-sqlite3, which npm 10 and 11 do from a lockfile. It needs Python.
  npm('ci', '--ignore-scripts', '--no-audit', '--no-fund');
  check('npm ci --ignore-scripts');
  assert.equal(npm('exec', '--no', 'keyfront', '--', '--version').trim(), version);
  for (const node of values.fails) {
    const { status, stdout, stderr } = keyfront(node, '--version');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(
      stderr,
      /^Keyfront needs Node 22\.15 or later, 24, or 26 or later; this is Node [\d.]+\. Install Node 24 /,
    );
    console.log(stderr.trim());
  }
  for (const node of nodes) {
    rmSync(env.KEYFRONT_DATA, { recursive: true, force: true });
    assert.equal(keyfront(node, '--version').stdout.trim(), version);
    const init = keyfront(node, 'init');
    assert.equal(init.status, 0, init.stderr);
    assert.match(init.stdout, /kf_svc_/);
    await serve(node);
    console.log(`${execFileSync(node, ['--version']).toString().trim()}: --version, init and serve`);
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** Checks that npm has installed no Node, which would come first in PATH of the project's scripts. */
function check(how) {
  const modules = join(project, 'node_modules');
  assert.deepEqual(
    readdirSync(join(modules, '.bin')).filter((name) => /^node(\.|$)/.test(name)),
    [],
  );
  assert.deepEqual(
    readdirSync(modules).filter((name) => /^node-(bin-)?(linux|darwin|win)/.test(name)),
    [],
  );
  const files = globSync('**/*', { cwd: modules, withFileTypes: true }).filter((file) => file.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  console.log(`npm ${npm('--version').trim()}, ${how}: ${(bytes / 2 ** 20).toFixed(1)} MiB in ${files.length} files`);
}
