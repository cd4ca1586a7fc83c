// Packs what is published from the build in `dist`, and prints the files with their sizes: `npm run pack [-- FOLDER]`, by
// default into `build/packages`.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { publishedManifest } from './manifest.mjs';

const root = join(import.meta.dirname, '../..');
/** What the package contains beside its manifest. */
const contents = ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'dist', 'docs', 'schema'];
/** What processes that run from `dist` write there. */
const written = join(root, 'dist/compile-cache');

const into = resolve(process.argv[2] ?? join(root, 'build/packages'));
mkdirSync(into, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'keyfront-pack-'));
try {
  for (const name of contents) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: (path) => path !== written });
  }
  const manifest = publishedManifest(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const packed of [folder, join(root, 'dist/client')]) pack(packed);
} finally {
  rmSync(folder, { recursive: true });
}

function pack(/** @type {string} */ from) {
  const options = ['pack', from, '--ignore-scripts', '--json', '--pack-destination', into];
  const shell = process.platform === 'win32';
  const printed = execFileSync('npm', options, { cwd: into, shell, stdio: ['ignore', 'pipe', 2], maxBuffer: 2 ** 26 });
  const [{ filename, size, unpackedSize, files }] = JSON.parse(printed.toString());
  for (const file of files) console.log(`${String(file.size).padStart(10)}  ${file.path}`);
  console.log(`${join(into, filename)}: ${size} bytes, ${unpackedSize} unpacked, ${files.length} files\n`);
}
