import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isTokenShaped } from '../../src/auth/token.js';
import { startApp } from '../support/app.js';
import { makeCommandLine, type CommandLine } from '../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeCommandLine();
});
afterEach(async () => c.remove());

const issue = (...args: string[]) => c.keyfront(['credentials', 'issue', ...args]);
const rows = async () =>
  (await c.keyfront(['credentials', 'list'])).out
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ {2,}/));

describe('credentials issue', () => {
  it.each(['management', 'service'])('prints the secret of a %s credential alone on standard output', async (kind) => {
    const { code, out, said } = await issue('--kind', kind, '--label', 'Billing');
    expect(code).toBe(0);
    expect(out).toMatch(/^kf_(mgt|svc)_\w+\n$/);
    expect(isTokenShaped(out.trim())).toBe(true);
    expect(said).toMatch(/^Issued cred_[0-9a-f]{16}\. Its secret is shown once:\n$/);
    expect(said).not.toContain(out.trim());
  });

  it('issues what a service that is running takes at once, and no longer once revoked', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    const { out, said } = await issue('--kind', 'management', '--label', 'Billing');
    const headers = { authorization: `Bearer ${out.trim()}` };
    expect((await t.preview({}, headers)).status).toBe(200);
    const id = /cred_\w+/.exec(said)?.[0] ?? '';
    const revoked = await c.keyfront(['credentials', 'revoke', id]);
    expect(revoked).toStrictEqual({
      code: 0,
      out: '',
      said: `Revoked ${id}. Running services refuse it from now on.\n`,
    });
    expect((await t.preview({}, headers)).status).toBe(401);
    await t.close();
  });

  it('binds to an organisation and to an end', async () => {
    const before = Date.now();
    await issue('--kind', 'service', '--label', 'Billing', '--org', 'acme', '--expires', '2w');
    const [, [id, kind, state, , org, , expires, , label] = []] = await rows();
    expect([kind, state, org, label]).toStrictEqual(['service', 'active', 'acme', 'Billing']);
    expect(id).toMatch(/^cred_/);
    const days = (Date.parse(expires ?? '') - before) / 86_400_000;
    expect(Math.round(days)).toBe(14);
  });
});

describe('credentials list', () => {
  it('has a row for each, with its state and without its secret', async () => {
    expect(await rows()).toStrictEqual([
      ['ID', 'KIND', 'STATE', 'LAST 4', 'ORGANISATION', 'CREATED', 'EXPIRES', 'LAST USED', 'LABEL'],
    ]);
    const { out: secret } = await issue('--kind', 'service', '--label', 'Billing');
    const { said } = await issue('--kind', 'management', '--label', 'Old one');
    await c.keyfront(['credentials', 'revoke', /cred_\w+/.exec(said)?.[0] ?? '']);
    const [, ...listed] = await rows();
    expect(
      listed.map(([, kind, state, , org, , expires, used, label]) => [kind, state, org, expires, used, label]).sort(),
    ).toStrictEqual([
      ['management', 'revoked', '(all)', 'never', 'never', 'Old one'],
      ['service', 'active', '(all)', 'never', 'never', 'Billing'],
    ]);
    expect(listed.map((row) => row[3])).toContain(`…${secret.trim().slice(-4)}`);
    expect((await c.keyfront(['credentials', 'list'])).out).not.toContain(secret.trim());
  });

  it('shows no control characters of a label or an organisation to the terminal', async () => {
    await issue('--kind', 'service', '--label', 'a\u001b[2Jb\nc', '--org', 'x\u001b[31my');
    const { out } = await c.keyfront(['credentials', 'list']);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(out).not.toContain('\u001b');
  });
});

describe('credentials revoke', () => {
  it('says where there is no such credential', async () => {
    expect(await c.keyfront(['credentials', 'revoke', 'cred_1'])).toStrictEqual({
      code: 1,
      out: '',
      said: 'There is no credential cred_1.\n',
    });
  });
});
