import { beforeEach, describe, expect, it } from 'vitest';
import { toCSV } from '../../../src/cli/csv.js';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';
import { hashOf } from '../../support/factories.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.importKeys([
    { key_id: 'used', org_id: 'acme', alias: '=HYPERLINK("http://evil","x")', quota_max: 10, tags: ['a', 'b'] },
    { key_id: 'unused', org_id: 'acme', alias: 'Idle' },
    { key_id: 'other', org_id: 'globex' },
  ]);
});

describe.each(['the data folder', 'a service'])('the use of keys on %s', (place) => {
  let env: Record<string, string> = {};
  let today = '';
  let usedAt = '';
  const keyfront = async (...args: string[]) => c.keyfront(args, env);
  beforeEach(async () => {
    const { server, env: remote } = await serveFolder(c);
    const { t } = server;
    await t.graphql('mutation { verifyKey(keyID: "used") { code } }');
    await t.graphql('mutation { consumeOrgQuota(keyID: "used", amount: 20) { allowed } }');
    await t.app.flushUses();
    usedAt = t.clock.now.toISOString();
    today = usedAt.slice(0, 10);
    env = place === 'a service' ? remote : {};
    if (place !== 'a service') await server.close();
  });

  it('is printed by day for a key, or for an organization, as text, JSON and CSV', async () => {
    for (const subject of [['used'], ['--key-hash', hashOf('used')], ['--org', 'acme']]) {
      expect(await keyfront('keys', 'usage', ...subject)).toMatchObject({
        code: 0,
        out: `DAY         ALLOWED  DENIED\n${today}  1        20\n`,
        stderr: expect.stringMatching(new RegExp(`^From .* to ${today}: 1 allowed, 20 denied\\.\\n$`)),
      });
      const json = await keyfront('keys', 'usage', ...subject, '--from', today, '--to', today, '--json');
      expect(jsonLines(json.out)).toEqual([
        { from: today, to: today, allowed: 1, denied: 20, days: [{ day: today, allowed: 1, denied: 20 }] },
      ]);
      expect(await keyfront('keys', 'usage', ...subject, '--csv')).toMatchObject({
        code: 0,
        out: `day,allowed,denied\r\n${today},1,20\r\n`,
        stderr: '',
      });
    }
    expect(await keyfront('keys', 'usage', 'unused', '--from', '2020-01-01', '--to', '2020-01-31')).toMatchObject({
      code: 0,
      out: '',
      stderr: 'No requests from 2020-01-01 to 2020-01-31.\n',
    });
    expect(await keyfront('keys', 'usage', '--org', 'globex', '--csv')).toMatchObject({
      out: 'day,allowed,denied\r\n',
    });
  });

  it('rejects what it cannot show, and names what was expected', async () => {
    expect(await keyfront('keys', 'usage', 'none')).toMatchObject({
      code: 1,
      stderr: 'NOT_FOUND: There is no such key.\n',
    });
    expect(await keyfront('keys', 'usage', 'used', '--from', '2026-02-30')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('from must be a day such as 2026-01-31'),
    });
    expect(await keyfront('keys', 'usage', '--org', 'acme', '--from', '1970-01-01')).toMatchObject({ code: 1 });
    for (const args of [['used', '--org', 'acme'], ['used', '--csv', '--json'], []]) {
      expect(await keyfront('keys', 'usage', ...args)).toMatchObject({ code: 2, out: '' });
    }
  });

  it('is in the list of keys, which it orders and filters', async () => {
    const { out } = await keyfront('keys', 'list', '--sort', '-used', '--org', 'acme');
    expect(out.split('\n').map((line) => line.trim().split(/ {2,}/).at(-1))).toEqual([
      'LAST USED',
      usedAt,
      'never',
      '',
    ]);
    const json = await keyfront('keys', 'list', '--sort', '-used', '--json', '--org', 'acme');
    expect(jsonLines(json.out).map((key) => key['last_used_at'])).toEqual([usedAt, undefined]);
    const unused = await keyfront('keys', 'list', '--unused-for', '90d', '--sort', 'used', '--limit', '1', '--json');
    const [, cursor = ''] = /--cursor (\S+)/.exec(unused.stderr) ?? [];
    const rest = await keyfront('keys', 'list', '--unused-for', '90d', '--sort', 'used', '--cursor', cursor, '--json');
    const hashes = [...jsonLines(unused.out), ...jsonLines(rest.out)].map((key) => key['key_hash']);
    expect(hashes.toSorted()).toEqual([hashOf('unused'), hashOf('other')].toSorted());
    expect(await keyfront('keys', 'list', '--unused-for', '90')).toMatchObject({ code: 2 });
  });

  it('is in the list as CSV, in which no text is a formula', async () => {
    const { out, stderr } = await keyfront('keys', 'list', '--sort', '-used', '--org', 'acme', '--csv');
    expect(stderr).toBe('');
    const [heading, used, unused, end] = out.split('\r\n');
    expect(heading).toBe('key_hash,org_id,alias,state,version,tags,used,remaining,expires,last_updated,last_used_at');
    expect(used).toContain(`${hashOf('used')},acme,"'=HYPERLINK(""http://evil"",""x"")",ACTIVE,1,a b,1,9,,`);
    expect(used?.endsWith(`,${usedAt}`)).toBe(true);
    expect(unused).toContain(`${hashOf('unused')},acme,Idle,ACTIVE,1,,0,,,`);
    expect(unused?.endsWith('Z,')).toBe(true);
    expect(end).toBe('');
  });
});

describe('CSV', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['a"b', '"a""b"'],
    ['a,b', '"a,b"'],
    ['a\nb', '"a\nb"'],
    ['plain', 'plain'],
    ['', ''],
  ])('shows the text %j as %j', (text, cell) => {
    expect(toCSV([[text]])).toBe(`${cell}\r\n`);
  });

  it('leaves numbers as they are', () => {
    expect(toCSV([[-1, 9_223_372_036_854_775_807n]])).toBe('-1,9223372036854775807\r\n');
  });
});
