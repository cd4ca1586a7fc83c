import { parse, validate } from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import { documents } from '../../../src/cli/client/operations.js';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { stringifyJSON } from '../../../src/lib/json.js';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';

it('sends only operations that are valid and within the limits', () => {
  for (const document of Object.values(documents)) expect(validate(schema, parse(document))).toEqual([]);
});

describe.each(['the data folder', 'a service'])('commands for the keys of %s', (place) => {
  let c: CommandLine;
  let env: Record<string, string> = {};
  const keyfront = async (...args: string[]) => c.keyfront(args, env);

  beforeEach(async () => {
    c = await makeOwnCommandLine();
    const others = Array.from({ length: 240 }, (_, index) => ({
      key_id: `other-${index}`,
      org_id: 'globex',
      alias: `Other ${String(index).padStart(3, '0')}`,
      last_updated: '1600000000',
    }));
    await c.importKeys([{ key_id: 'a', org_id: 'acme', quota_max: 10, last_updated: '1600000000' }, ...others]);
    env = place === 'a service' ? (await serveFolder(c)).env : {};
  });

  it('reset retries after a concurrent change and overwrites nothing', async () => {
    const outcomes = await Promise.all([1, 2, 3].map(async () => keyfront('keys', 'reset', 'a')));
    expect(outcomes.map(({ code }) => code)).toStrictEqual([0, 0, 0]);
    expect((await keyfront('keys', 'get', 'a')).stderr).toContain('Version 4 of');
  });

  const listed = async (...args: string[]) => {
    const { out, stderr } = await keyfront('keys', 'list', '--json', ...args);
    return { stderr, keys: jsonLines(out) };
  };

  it('list follows the pages up to the limit, and reports that more keys match', async () => {
    const cut = await listed('--org', 'globex', '--limit', '230');
    expect(cut.keys).toHaveLength(230);
    const [, cursor = ''] = /^More keys match\. The next ones: --cursor (\S+)\n$/.exec(cut.stderr) ?? [];
    const rest = await listed('--org', 'globex', '--limit', '230', '--cursor', cursor);
    expect([rest.keys.length, rest.stderr]).toStrictEqual([10, '']);
    const hashes = [...cut.keys, ...rest.keys].map(({ key_hash: keyHash }) => keyHash);
    expect(new Set(hashes).size).toBe(240);
    const all = await listed('--alias-prefix', 'Other', '--limit', '240');
    expect([all.keys.length, all.stderr]).toStrictEqual([240, '']);
    const found = await listed('--search', 'oTHER 23', '--sort', 'updated');
    expect(found.keys.map(({ alias }) => alias).toSorted()).toStrictEqual(
      [230, 231, 232, 233, 234, 235, 236, 237, 238, 239].map((index) => `Other ${index}`).toSorted(),
    );
    expect(await keyfront('keys', 'list', '--search', 'a'.repeat(257))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--search must have at most 256 characters'),
    });
    expect((await listed()).keys).toHaveLength(100);
  });

  it('list sorts by the last update', async () => {
    expect(await keyfront('keys', 'put', 'other-7', await c.file('key.json', '{"alias":"Changed"}'))).toMatchObject({
      code: 0,
    });
    expect((await listed('--sort=-updated', '--limit', '1')).keys).toMatchObject([{ alias: 'Changed' }]);
    for (const order of ['created', '-created', 'expires', '-expires']) {
      const [one, two] = [
        await listed(`--sort=${order}`, '--limit', '101'),
        await listed(`--sort=${order}`, '--limit', '1'),
      ];
      expect([one.keys.length, two.keys]).toStrictEqual([101, one.keys.slice(0, 1)]);
    }
  });

  it('put stores integers beyond 2^53-1, except that a service accepts a new one in metadata over REST only', async () => {
    const file = await c.file(
      'key.json',
      stringifyJSON({ quota_max: 9007199254740993n, meta_data: { big: 9007199254740993n } }),
    );
    const { code, stderr } = await keyfront('keys', 'put', 'a', file);
    expect([code, stderr]).toStrictEqual(place === 'a service' ? [1, expect.stringContaining('IMPRECISE')] : [0, '']);
  });
});
