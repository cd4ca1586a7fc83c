import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf, documents, textOf, type Block } from '../support/documents.js';
import { buildMain } from '../support/build.mjs';
import { start, type Running } from '../support/process.js';

const root = new URL('../..', import.meta.url).pathname;

let main: string;
beforeAll(async () => {
  main = await buildMain();
});

/** One service with the sample keys, and a folder to work in where `keyfront` is this checkout's. */
async function createPlace() {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-documents-'));
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const keyfront = `exec '${process.execPath}' '${main}' "$@"`;
  const npx = `[ "$1" = keyfront ] || { echo "only keyfront is there" >&2; exit 127; }\nshift\n${keyfront}`;
  for (const [name, script] of Object.entries({ keyfront, npx })) {
    await writeFile(join(bin, name), `#!/usr/bin/env bash\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const service = await start(main, join(folder, 'data'), ['serve', '--sample']);
  const [management = '', secret = ''] = /kf_mgt_\w+|kf_svc_\w+/g[Symbol.match](service.stdout()) ?? [];
  const env = {
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    HOME: folder,
    KEYFRONT_DATA: join(folder, 'data'),
    MANAGEMENT: management,
    SERVICE: secret,
  };
  return { folder, service, env };
}

type Place = Awaited<ReturnType<typeof createPlace>>;

/** The output or the response of a block. Rejects if it fails, unless its comment states that. */
async function run({ language, text, exitCode }: Block, { folder, service, env }: Place): Promise<string> {
  const here = (script: string) => script.replaceAll('http://127.0.0.1:4000', service.url);
  if (language === 'graphql') return sendRequest(text, service, env);
  const { code, stdout, stderr } = await bash(here(text), { cwd: folder, env });
  expect(`${stderr}exit code ${code}`).toMatch(new RegExp(`exit code ${exitCode}$`));
  return stdout.replaceAll(service.url, 'http://127.0.0.1:4000');
}

async function sendRequest(query: string, { url }: Running, env: Place['env']): Promise<string> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${env.MANAGEMENT}`,
      'x-svc-authorization': env.SERVICE,
    },
    body: JSON.stringify({ query }),
  });
  return response.text();
}

function bash(script: string, options: { cwd: string; env: Record<string, string | undefined> }) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', script],
      { ...options, timeout: 120_000 },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
      },
    );
  });
}

/** The text without parts that differ in each run: times, and identifiers of requests. */
const settled = (text: string) =>
  text
    .trim()
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(moment)')
    .replace(/\b1[789]\d{8}\b/g, '(seconds)')
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '(request)');

/** The fragments by which the headings of a document are addressed, as GitHub makes them. */
const headingsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(documents)('%s', (name) => {
  const blocks = blocksOf(textOf(name));
  let place: Place | undefined;
  beforeAll(async () => {
    if (blocks.some(({ isRun }) => isRun)) place = await createPlace();
  });
  afterAll(async () => {
    if (!place) return;
    place.service.signal('SIGTERM');
    await place.service.exited;
    await rm(place.folder, { recursive: true });
  });

  for (const block of blocks.filter(({ isRun }) => isRun)) {
    it(`executes line ${block.line}: ${block.title}`, { timeout: 240_000 }, async () => {
      if (!place) throw new Error('There is no service.');
      const result = await run(block, place);
      if (block.response !== undefined) expect(settled(result)).toBe(settled(block.response));
    });
  }
  for (const { line, title, reason } of blocks.filter((block) => block.reason !== undefined)) {
    it.skip(`does not execute line ${line} (${reason}): ${title}`, () => undefined);
  }

  it('shows responses below their requests, and no code in an unchecked language', () => {
    expect(blocks.filter(({ isStray }) => isStray).map(({ line, language }) => `${line}: ${language}`)).toEqual([]);
  });

  it('links to existing files and headings', () => {
    const links = [...textOf(name).matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(([, file = '', heading]) => {
      const target = file === '' ? join(root, name) : join(root, name, '..', file);
      if (!existsSync(target)) return true;
      return heading !== undefined && !headingsOf(readFileSync(target, 'utf8')).includes(heading);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('names existing files of the project', () => {
    const named = [...textOf(name).matchAll(/`((?:src|test|schema)\/[\w./-]+)`/g)].map(([, file = '']) => file);
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

it.each(globSync('docs/*.md', { cwd: root }))('%s begins with what it helps to do, and has at most 15 kB', (name) => {
  const text = textOf(name);
  expect(text).toMatch(/^# .+\n\nUse this page /);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(15_000);
});
