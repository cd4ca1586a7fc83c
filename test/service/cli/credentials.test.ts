import { beforeEach, describe, expect, it } from 'vitest';
import { isTokenShaped } from '../../../src/credentials/token.js';
import { startApp, startOwnApp } from '../../support/app.js';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const issue = (...args: string[]) => c.keyfront(['credentials', 'issue', ...args]);
const idIn = (stderr: string) => /cred_\w+/.exec(stderr)?.[0] ?? '';
const rows = async () =>
  (await c.keyfront(['credentials', 'list'])).out
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ {2,}/));

describe('credentials issue', () => {
  it.each(['management', 'service'])('prints the secret of a %s credential alone on standard output', async (kind) => {
    const { code, out, stderr } = await issue('--kind', kind, '--label', 'Billing');
    expect(code).toBe(0);
    expect(out).toMatch(/^kf_(mgt|svc)_\w+\n$/);
    expect(isTokenShaped(out.trim())).toBe(true);
    expect(stderr).toMatch(/^Issued cred_[0-9a-f]{16}\. Save this secret now; it is not shown again:\n$/);
    expect(stderr).not.toContain(out.trim());
  });

  it('issues a credential that a running service accepts at once, and rejects after its revocation', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    const { out, stderr } = await issue('--kind', 'management', '--label', 'Billing');
    const headers = { authorization: `Bearer ${out.trim()}` };
    expect((await t.preview({}, headers)).status).toBe(200);
    const id = idIn(stderr);
    const revoked = await c.keyfront(['credentials', 'revoke', id]);
    expect(revoked).toStrictEqual({
      code: 0,
      out: '',
      stderr: `Revoked ${id}. Running services reject it from now on.\n`,
    });
    expect((await t.preview({}, headers)).status).toBe(401);
  });

  it('restricts a credential to an organization and a lifetime', async () => {
    const before = Date.now();
    await issue('--kind', 'service', '--label', 'Billing', '--org', 'acme', '--expires', '2w');
    const [, [id, kind, state, , org, allowed, , expires, , label] = []] = await rows();
    expect([kind, state, org, allowed, label]).toStrictEqual(['service', 'active', 'acme', '(all)', 'Billing']);
    expect(id).toMatch(/^cred_/);
    const days = (Date.parse(expires ?? '') - before) / 86_400_000;
    expect(Math.round(days)).toBe(14);
  });
});

describe('credentials list', () => {
  it('prints the time of the last use, which a running service writes at its stop at the latest', async () => {
    const { out, stderr } = await issue('--kind', 'management', '--label', 'Used');
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    await t.preview({}, { authorization: `Bearer ${out.trim()}` });
    await t.close();
    const used = (await rows()).flatMap(([id, , , , , , , , when]) => (stderr.includes(id ?? '-') ? [when] : []));
    expect(used).toStrictEqual(['2026-01-31T12:00:00.000Z']);
  });

  it('prints no control characters of a label', async () => {
    await issue('--kind', 'service', '--label', 'a\u001b[2Jb\nc');
    const { out } = await c.keyfront(['credentials', 'list']);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(out).not.toContain('\u001b');
  });
});

describe('credentials rotate', () => {
  const rotate = (...args: string[]) => c.keyfront(['credentials', 'rotate', ...args]);

  it('prints only the new secret on standard output, and keeps both valid for a day', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    const { out: old, stderr } = await issue('--kind', 'management', '--label', 'Billing', '--org', 'acme');
    const { code, out, stderr: explained } = await rotate(idIn(stderr));
    expect(code).toBe(0);
    expect(out).toMatch(/^kf_mgt_\w{38}\n$/);
    expect(explained).toMatch(
      /^Issued cred_\w{16}; cred_\w{16} stays valid until (\S+)\. Save this secret now; it is not shown again:\n$/,
    );
    const until = Date.parse(/until (\S+)\. /.exec(explained)?.[1] ?? '');
    expect(Math.round((until - Date.now()) / 3_600_000)).toBe(24);
    for (const secret of [old, out]) {
      expect((await t.preview({}, { authorization: `Bearer ${secret.trim()}` })).status).toBe(200);
    }
    const listed = (await rows()).filter(([, , , , , , , , , label]) => label === 'Billing');
    expect(listed.map(([id, kind, state, last, org]) => [id, kind, state, last, org])).toStrictEqual(
      expect.arrayContaining([
        [idIn(stderr), 'management', 'replaced', `…${old.trim().slice(-4)}`, 'acme'],
        [idIn(explained), 'management', 'active', `…${out.trim().slice(-4)}`, 'acme'],
      ]),
    );
  });
});

describe('with --url', () => {
  const secretOf = async (args: readonly string[], env: Record<string, string>) => {
    const { code, out, stderr } = await c.keyfront(['credentials', ...args], env);
    expect([code, stderr]).toStrictEqual([0, expect.stringContaining('Save this secret now')]);
    return { secret: out.trim(), id: idIn(stderr) };
  };

  it('the commands show and change the credentials of a service', async () => {
    const { server, env } = await serveFolder(c);
    const works = async (secret: string) => {
      const { body } = await server.t.graphql('{ viewer { orgID } }', {}, { 'x-svc-authorization': secret });
      return !('errors' in body);
    };
    const url = ['--url', env['KEYFRONT_URL'] ?? ''];
    const order = ['issue', '--kind', 'service', '--label', 'Billing', '--org', 'acme', '--scopes', 'read,admin'];
    const first = await secretOf([...order, '--expires', '2w', ...url], env);
    expect(await works(first.secret)).toBe(true);
    const own = { ...env, KEYFRONT_SERVICE_CREDENTIAL: first.secret };
    // The list of a service and that of its data folder are the same, also on the second page.
    for (let n = 0; n < 101; n += 1) await server.t.issue('management', { label: `n${n}`, orgID: 'globex' });
    for (const json of [[], ['--json']]) {
      const lists = [
        await c.keyfront(['credentials', 'list', ...json], env),
        await c.keyfront(['credentials', 'list', ...json]),
      ];
      const [remote, local] = lists.map(({ out }) => out.split('\n').filter((line) => line.includes('globex')));
      expect(remote).toHaveLength(101);
      expect(remote).toStrictEqual(local);
    }
    const visible = await c.keyfront(['credentials', 'list', '--json'], own);
    expect(jsonLines(visible.out)).toMatchObject([
      { id: first.id, kind: 'service', state: 'active', org_id: 'acme', scopes: ['read', 'admin'], successor: null },
    ]);
    const next = await secretOf(['rotate', first.id, '--overlap', '7d'], own);
    const last = await secretOf(['rotate', next.id, '--overlap', '0'], own);
    const secrets = [first, next, last].map(({ secret }) => secret);
    expect(await Promise.all(secrets.map(works))).toStrictEqual([true, false, true]);
    const person = { input: 'no\n', isInteractive: true, isTerminal: true };
    const asked = await c.keyfront(['credentials', 'revoke', last.id], env, false, person);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain(`${last.id} (Billing) of acme`);
    expect(await works(last.secret)).toBe(true);
    expect(await c.keyfront(['credentials', 'revoke', last.id, '--json'], env)).toStrictEqual({
      code: 0,
      out: `{"id":"${last.id}","revoked":true}\n`,
      stderr: `Revoked ${last.id}. Running services reject it from now on.\n`,
    });
    expect(await works(last.secret)).toBe(false);
  });

  it('the commands say why the service rejects them', async () => {
    const { server, env } = await serveFolder(c);
    const { secret } = await server.t.issue('service', { orgID: 'acme', scopes: ['admin'] });
    const run = async (args: readonly string[], credential = secret) =>
      c.keyfront(['credentials', ...args], { ...env, KEYFRONT_SERVICE_CREDENTIAL: credential });
    const other = await server.t.issue('service', { orgID: 'globex', scopes: ['read'] });
    for (const action of ['rotate', 'revoke']) {
      const stderr = `There is no credential ${other.id}.\n`;
      expect(await run([action, other.id])).toMatchObject({ code: 1, stderr });
    }
    const order = ['issue', '--kind', 'service', '--label', 'x', '--scopes'];
    expect(await run([...order, 'read'])).toStrictEqual({
      code: 1,
      out: '',
      stderr: 'The credential does not have the scope `read`, and cannot give it to another.\n',
    });
    expect(await run([...order, 'admin'], other.secret)).toMatchObject({
      code: 1,
      stderr: 'The credential does not have the scope `admin`.\n',
    });
    expect(await run([...order, 'admin'], '')).toMatchObject({ code: 2 });
    expect(await run([...order, 'admin', '--url', 'http://127.0.0.1:1'])).toMatchObject({ code: 1 });
  });
});
