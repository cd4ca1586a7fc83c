import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { makeOwnCommandLine } from '../../support/cli.js';

/*
 * Each file of `transcripts` is a session on an installation of its own:
 *
 *   @ keys/a.json {"key_id":"a"}       writes a file
 *   $ keyfront keys get a              runs a command; `$$` runs it on a terminal
 *   $ keyfront keys put a - <<< '{}'   with this standard input
 *
 * What the command prints follows: standard output, then standard error behind `! `, then its exit code if it is not 0.
 * Times, identifiers and secrets that differ in each run are replaced. `UPDATE_TRANSCRIPTS=1` writes the files again.
 */
const folder = new URL('transcripts/', import.meta.url).pathname;
const sessions = readdirSync(folder).filter((name) => name.endsWith('.txt'));

/** Texts that differ in each run. An identifier gets a number in the order in which it appears. */
function createMask(root: string) {
  const known = new Map<string, string>();
  const numbered = (prefix: string, text: string): string => {
    const name =
      known.get(text) ?? `${prefix}${[...known.values()].filter((one) => one.startsWith(prefix)).length + 1}`;
    known.set(text, name);
    return name;
  };
  return {
    mask: (text: string) =>
      text
        .replaceAll(`${root}/`, '')
        .replaceAll(hostname(), 'host')
        .replace(/\b(cred_|hook_)[\da-f]{16}\b/g, (found, prefix: string) => numbered(prefix, found))
        .replace(/\b(kf_mgt_|kf_svc_|whsec_)[\w+/=]{20,}/g, '$1…')
        .replace(/("last_four":"|active {2}…|replaced {2}…)\w{4}/g, '$1LAST')
        .replace(/_[\da-f]{40}\b/g, '_…')
        .replace(/(with the hash |_…","key_hash":")[\da-f]{64}/g, '$1…')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
        .replace(/"(last_updated|renews_at|quota_renews)":"?\d+"?/g, '"$1":N')
        .replace(/\b1[789]\d{8}\b/g, 'SECONDS')
        .replace(/(digest |"(digest|seal|link)":")[\w+/=-]+/g, '$1…')
        .replace(/"(bytes|schemaVersion)":\d+/g, '"$1":N')
        .replace(/"sha256":"[\da-f]+/g, '"sha256":"…')
        .replace(/[\d,]+ MiB are free/g, 'N MiB are free'),
    unmask: (text: string) =>
      [...known].reduce((filled, [found, name]) => filled.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), found), text),
  };
}

/** Runs the session, and returns its transcript. */
async function replay(text: string): Promise<string> {
  const c = await makeOwnCommandLine();
  const root = dirname(c.folder);
  const { mask, unmask } = createMask(root);
  const steps = text.split('\n').filter((line) => /^(#|@ |\$\$? |$)/.test(line));
  const out: string[] = [];
  for (const step of steps) {
    out.push(step);
    const [, file = '', content = ''] = /^@ (\S+) (.*)$/.exec(step) ?? [];
    if (file !== '') {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), content.replaceAll('\\n', '\n'));
    }
    const [, dollars, call = '', input] = /^(\$\$?) keyfront ?(.*?)(?: <<< '(.*)')?$/.exec(step) ?? [];
    if (dollars === undefined) continue;
    const args = [...call.matchAll(/"([^"]*)"|(\S+)/g)]
      .map(([, quoted, word]) => quoted ?? unmask(word ?? ''))
      .map((word) =>
        (word.includes('/') && existsSync(dirname(join(root, word)))) || existsSync(join(root, word))
          ? join(root, word)
          : word,
      );
    const isTerminal = dollars === '$$';
    const env = { USER: 'ana', NO_COLOR: '1', KEYFRONT_DATA: c.folder };
    const {
      code,
      out: stdout,
      stderr,
    } = await c.keyfront(args, env, false, {
      isTerminal,
      isInteractive: isTerminal,
      ...(input !== undefined && { input: `${input.replaceAll('\\n', '\n')}\n` }),
    });
    const linesOf = (printed: string, prefix: string) =>
      printed === ''
        ? []
        : mask(printed.replace(/\n$/, ''))
            .split('\n')
            .map((line) => `${prefix}${line}`);
    out.push(...linesOf(stdout, '  '), ...linesOf(stderr, '! '), ...(code === 0 ? [] : [`exit ${code}`]));
  }
  return `${out.join('\n').trimEnd()}\n`;
}

describe('a session', () => {
  it.each(sessions)('of %s prints what its transcript contains', async (name) => {
    const path = join(folder, name);
    const expected = readFileSync(path, 'utf8');
    const actual = await replay(expected);
    if (process.env['UPDATE_TRANSCRIPTS'] === '1') writeFileSync(path, actual);
    else expect(actual).toBe(expected);
  });

  it('exists for every command that ends by itself and needs no server', () => {
    const calls = sessions.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    const missing = commands
      .filter(({ name }) => !new RegExp(`^\\$+ keyfront ${name}\\b`, 'm').test(calls))
      .map(({ name }) => name);
    expect(missing).toStrictEqual(['serve', 'webhooks test', 'keys follow', 'keys discard', 'migrate-store']);
  });
});
