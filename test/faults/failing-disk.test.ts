import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/main.js';
import { makeCommandLine } from '../support/cli.js';

/** The maximum size of any file of this process, in bytes; SQLite gets a disk error beyond it. */
const limitFiles = (bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`], { stdio: 'ignore' });

const mayLimit = (() => {
  try {
    limitFiles('unlimited');
    return true;
  } catch {
    return false;
  }
})();

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-failing-'));
});
afterEach(async () => rm(folder, { recursive: true }));

describe('D-05 a service whose disk fails during a write', () => {
  it.skipIf(!mayLimit)(
    'reports that write as undecided, acknowledges none after it, and exits with 1; a new process has all acknowledged changes (needs prlimit)',
    async () => {
      let out = '';
      const ended = run(['serve', '--sample'], {
        env: { KEYFRONT_DATA: folder, PORT: '0', LOG_LEVEL: 'silent' },
        stdout: (text) => void (out += text),
        stderr: () => undefined,
        isStderrTTY: false,
        onStop: () => undefined,
      });
      while (!out.includes('listens on')) await new Promise((resolve) => setTimeout(resolve, 20));
      const [url = ''] = /http:\/\/[\d.:]+/.exec(out) ?? [];
      const [service = ''] = /kf_svc_\w{38}/.exec(out) ?? [];
      const consume = async () => {
        const response = await fetch(`${url}/svc/org/keys/globex-reports/quota`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-svc-authorization': service },
          body: '{"amount":1}',
        });
        return { status: response.status, body: (await response.json()) as { message?: string } };
      };
      expect((await consume()).status).toBe(200);
      const responses: { status: number; body: { message?: string } }[] = [];
      limitFiles((await stat(join(folder, 'keyfront.db-wal'))).size + 20_000);
      try {
        while (responses.at(-1)?.status !== 503) responses.push(await consume());
        const last = responses.at(-1)?.body.message;
        expect(last).toBe('Storage failed, and it is not known whether this was written: read before you try again.');
      } finally {
        limitFiles('unlimited');
      }
      // The disk works again by now, but its content before that is unknown.
      await consume().then(
        ({ status, body }) =>
          expect([status, body.message]).toStrictEqual([503, 'Storage has failed; nothing was written.']),
        () => undefined,
      );
      expect(await ended).toBe(1);

      const c = await makeCommandLine();
      expect(await c.keyfront(['check'], { KEYFRONT_DATA: folder })).toMatchObject({ code: 0 });
      const exported = await c.keyfront(['keys', 'export'], { KEYFRONT_DATA: folder });
      const acknowledged = 1 + responses.filter(({ status }) => status === 200).length;
      const remaining = Number(
        /"quota_remaining":(\d+)[^\n]*globex-reports|globex-reports[^\n]*"quota_remaining":(\d+)/
          .exec(exported.out)
          ?.slice(1)
          .find(Boolean),
      );
      expect([acknowledged, acknowledged + 1]).toContain(500 - remaining);
      await c.remove();
    },
  );
});
