import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { jsonLines, makeOwnCommandLine, serveFolder } from '../../support/cli.js';
import { makeOwnPlace, postgres } from '../../support/engines.js';
import { startOwnReceiver } from '../../support/receiver.js';
import { tamper } from '../../support/tamper.js';

/*
 * Each file of `transcripts` is about one noun. `# Title` begins a session on an installation of its own; with `(here and
 * at a service)` after the title, it prints the same if a service has the data folder.
 *
 *   // A remark.
 *   @ keys/a.json {"key_id":"a"}       writes a file
 *   % UPDATE keys SET alias = 'x'      changes the database behind the back of Keyfront
 *   $ keyfront keys get a              runs a command; `$$` runs it on a terminal
 *   $ PORT=0 keyfront serve            with a setting
 *   $ keyfront keys put a - <<< '{}'   with this standard input; `\n` is a line feed
 *   $ keyfront keys follow ^C 2        until it has printed twice
 *
 * What the command prints follows: standard output, then standard error behind `! `, then its exit code if it is not 0.
 * Times, identifiers and secrets that differ in each run are replaced; RECEIVER is a server, and POSTGRES a database.
 * `UPDATE_TRANSCRIPTS=1` writes the files again.
 */
const folder = new URL('transcripts/', import.meta.url).pathname;
const atService = ' (here and at a service)';

interface Session {
  readonly file: string;
  readonly title: string;
  readonly text: string;
}

const sessions = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split(/^(?=# )/m)
      .map((text): Session => ({ file, title: text.split('\n', 1)[0]?.slice(2) ?? '', text: `${text.trimEnd()}\n` })),
  );

/** What a step runs. */
interface Call {
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly input?: string;
  /** After how many writes a signal ends it. */
  readonly stopAfter?: number;
}

function callOf(step: string): Call | undefined {
  const [, dollars, settings = '', rest = '', stopAfter, input] =
    /^(\$\$?) ((?:[A-Z_]+=\S* )*)keyfront ?(.*?)(?: \^C (\d))?(?: <<< '(.*)')?$/.exec(step) ?? [];
  if (dollars === undefined) return undefined;
  return {
    isTerminal: dollars === '$$',
    env: Object.fromEntries([...settings.matchAll(/([A-Z_]+)=(\S*)/g)].map(([, name, value]) => [name, value])),
    args: [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? ''),
    ...(input !== undefined && { input: `${input.replaceAll('\\n', '\n')}\n` }),
    ...(stopAfter !== undefined && { stopAfter: Number(stopAfter) }),
  };
}

const calls = sessions.flatMap(({ text }) => text.split('\n').flatMap((line) => callOf(line) ?? []));

const commandOf = (args: readonly string[]) =>
  commands.find(({ name, alias }) => `${args.join(' ')} `.startsWith(`${name} `) || args[0] === alias);

/** Replaces texts that differ in each run. An identifier gets a number in the order in which it appears. */
function createMask(root: string) {
  const known = new Map<string, string>();
  const numbered = (prefix: string, text: string): string => {
    const name =
      known.get(text) ?? `${prefix}${[...known.values()].filter((one) => one.startsWith(prefix)).length + 1}`;
    known.set(text, name);
    return name;
  };
  return {
    /** Shows a text of the run as a name of the session. */
    name: (text: string, name: string) => void known.set(text, name),
    mask: (text: string) =>
      [...known]
        .reduce((masked, [found, name]) => masked.replaceAll(found, name), text.replaceAll(`${root}/`, ''))
        .replaceAll(hostname(), 'host')
        .replace(/\b(cred_|hook_)[\da-f]{16}\b/g, (id, prefix: string) => numbered(prefix, id))
        .replace(/\bprop_(?!0123456789abcdef)[\da-f]{32}\b/g, (id) => numbered('PROPOSAL_', id))
        .replace(/(--after |--cursor |"cursor":")([\w-]{12,})/g, (_, before: string, id: string) => {
          return `${before}${numbered('cursor_', id)}`;
        })
        .replace(/\b\w+_[\da-f]{40}\b/g, (id) => numbered('KEY_', id))
        .replace(/\b(kf_mgt_|kf_svc_|whsec_)[\w+/=]{20,}/g, '$1…')
        .replace(/("last_four":"|(?:active|replaced|revoked) +…)[\w-]{4}/g, '$1LAST')
        .replace(/identifier_hash.*/g, (rest) => rest.replace(/\b[\da-f]{64}\b/g, '…'))
        .replace(/(with the hash |KEY_\d","key_hash":"|"CREATE","org_id":"acme","key_hash":")[\da-f]{64}/g, '$1…')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
        .replace(/"(last_updated|renews_at|quota_renews)":"?\d+"?/g, '"$1":N')
        .replace(/"time":\d+/g, '"time":N')
        .replace(/\b1[789]\d{8}\b(?<!1893456000)/g, 'SECONDS')
        .replace(/(digest |"(digest|seal|link|identity)":")[\w+/=-]+/g, '$1…')
        .replace(/"(bytes|schemaVersion|pid)":\d+/g, '"$1":N')
        .replace(/"sha256":"[\da-f]+/g, '"sha256":"…')
        .replace(/[\d,]+ MiB are free/g, 'N MiB are free')
        .replace(/(127\.0\.0\.1|localhost):\d{4,5}/g, '$1:PORT'),
    unmask: (text: string) =>
      [...known].reduce((filled, [found, name]) => filled.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), found), text),
  };
}

/** Runs a session, and returns its transcript. */
async function replay(text: string, isRemote: boolean): Promise<string> {
  const c = await makeOwnCommandLine();
  const root = dirname(c.folder);
  const { mask, unmask, name } = createMask(root);
  if (text.includes('RECEIVER')) name(new URL((await startOwnReceiver()).url).host, 'RECEIVER');
  if (text.includes('POSTGRES')) name((await makeOwnPlace(postgres)).env['KEYFRONT_DATABASE_URL'] ?? '', 'POSTGRES');
  const service = isRemote ? (await serveFolder(c)).env : {};
  const inRoot = (word: string) => {
    if (word === '' || word.startsWith('/')) return word;
    const isPath = existsSync(join(root, word)) || (word.includes('/') && existsSync(dirname(join(root, word))));
    return isPath ? join(root, word) : word;
  };

  async function runCall({ isTerminal, env, args, input, stopAfter }: Call): Promise<string[]> {
    const settings = Object.entries(env).map(([key, value]) => {
      return [key, /_(DATA|RING)$/.test(key) ? join(root, value) : unmask(value)];
    });
    let stop = (): void => undefined;
    let writes = 0;
    const onWrite = () => (writes += 1) === stopAfter && stop();
    const { code, out, stderr } = await c.keyfront(
      args.map((word) => inRoot(unmask(word))),
      {
        ...{ USER: 'ana', NO_COLOR: '1', KEYFRONT_DATA: c.folder },
        ...(commandOf(args)?.options?.['url'] && args[1] !== 'preview' && service),
        ...(Object.fromEntries(settings) as Record<string, string>),
      },
      false,
      {
        isTerminal,
        isInteractive: isTerminal,
        ...(input !== undefined && { input: unmask(input) }),
        ...(stopAfter !== undefined && {
          onStop: (callback: () => void) => (stop = callback),
          onStdout: onWrite,
          onStderr: onWrite,
        }),
      },
    );
    expect(out + stderr).not.toContain('kf_svc_not-printed');
    if (args.includes('--json')) expect(jsonLines(out), args.join(' ')).toStrictEqual(expect.any(Array));
    const linesOf = (printed: string, prefix: string) =>
      printed === ''
        ? []
        : mask(printed.replace(/\n$/, ''))
            .split('\n')
            .map((line) => `${prefix}${line}`.trimEnd());
    return [...linesOf(out, '  '), ...linesOf(stderr, '! '), ...(code === 0 ? [] : [`exit ${code}`])];
  }

  const printed: string[] = [];
  for (const step of text.split('\n').filter((line) => /^(#|\/\/|[@%] |\$\$? )/.test(line))) {
    printed.push(step);
    const [, file = '', content = ''] = /^@ (\S+) (.*)$/.exec(step) ?? [];
    if (file !== '') {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), content.replaceAll('\\n', '\n'));
    }
    if (step.startsWith('% ')) tamper(join(c.folder, 'keyfront.db'), unmask(step.slice(2)));
    const call = callOf(step);
    if (call) printed.push(...(await runCall(call)));
  }
  return `${printed.join('\n').trimEnd()}\n`;
}

/** A service records its credential, and knows alone what the hash of a new identifier is. */
const sameInBothPlaces = (text: string) =>
  text
    .replace(/ by .+ \((cli|cred_\d+)\)/g, ' by ACTOR')
    .replace(/"(actor|proposed_by)":\{[^}]+\}/g, '"$1":"ACTOR"')
    .replace(/"request_id":"[^"]+",/g, '')
    .replace(/^( {2}create .*) {2}\S+( key\))?$/gm, '$1')
    .replace(/("action":"create".*"key_hash":)("\w+"|null)/g, '$1')
    .replace(/\bcursor_\d+/g, 'CURSOR');

describe('a session', () => {
  for (const { file, title, text } of sessions) {
    const isMissing = text.includes('POSTGRES') && postgres.isMissing;
    it.skipIf(isMissing)(
      `of ${file} prints its transcript: ${title}${isMissing ? ` (${postgres.name})` : ''}`,
      async () => {
        const actual = await replay(text, false);
        if (process.env['UPDATE_TRANSCRIPTS'] !== '1') expect(actual).toBe(text);
        else
          writeFileSync(
            join(folder, file),
            readFileSync(join(folder, file), 'utf8').replace(text.trimEnd(), () => actual.trimEnd()),
          );
      },
    );

    if (title.endsWith(atService)) {
      it(`of ${file} prints its transcript at a service: ${title.replace(atService, '')}`, async () => {
        expect(sameInBothPlaces(await replay(text, true))).toBe(sameInBothPlaces(text));
      });
    }
  }

  it('declines every question, which ends the command with exit code 1', () => {
    const texts = sessions.map(({ text }) => text).join('\n');
    const declinations = texts.match(/\[y\/N\] Nothing was changed\.\n.*/g) ?? [];
    expect(new Set(declinations)).toStrictEqual(new Set(['[y/N] Nothing was changed.\nexit 1']));
    const declined = texts.match(/^\$\$ keyfront .*(?=(\n {2}.*|\n! .*)*\n! .*\[y\/N\] Nothing)/gm) ?? [];
    const dangerous = commands.filter(({ options }) => options?.['yes']).map(({ name }) => name);
    const confirmed = new Set(declined.map((step) => commandOf(callOf(step)?.args ?? [])?.name));
    expect(dangerous.filter((name) => !confirmed.has(name))).toStrictEqual([]);
  });

  it('exists for every command, with and without --json', () => {
    const called = (isJSON: boolean) =>
      new Set(calls.filter(({ args }) => args.includes('--json') === isJSON).map(({ args }) => commandOf(args)?.name));
    const all = commands.map(({ name }) => name);
    expect(all.filter((name) => !called(false).has(name))).toStrictEqual([]);
    expect(all.filter((name) => !called(true).has(name))).toStrictEqual(['serve', 'deliver file', 'completion']);
  });
});
