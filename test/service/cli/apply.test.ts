import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';

describe('keys apply', () => {
  let c: CommandLine;
  let folder = '';
  const apply = async () => c.keyfront(['keys', 'apply', folder, '--org', 'acme']);
  const count = async () => (await c.keyfront(['keys', 'list', '--json'])).out.split('\n').length - 1;

  beforeEach(async () => {
    c = await makeOwnCommandLine();
    await c.create();
    folder = join(c.folder, '..', 'keys');
    await mkdir(folder);
    await writeFile(join(folder, 'billing.json'), '{"key_id":"billing"}');
  });

  it.each([
    ['a: b: c\n', 'block as implicit key'],
    ['alias: *none\n', 'YAML'],
    ['alias: !!binary eA==\n', 'YAML'],
    [`${'['.repeat(50_000)}`, 'YAML'],
  ])('names the place of the problem in the YAML %j', async (text, message) => {
    await writeFile(join(folder, 'bad.yml'), text);
    const { code, stderr } = await apply();
    expect([code, stderr]).toStrictEqual([1, expect.stringContaining(`bad.yml: is not valid YAML: `)]);
    expect(stderr).toContain(message);
    expect(await count()).toBe(0);
  });

  it('rejects a file that is none, such as a FIFO without a writer, and changes nothing', async () => {
    const fifo = join(folder, 'fifo.json');
    execFileSync('mkfifo', [fifo]);
    const message = `${fifo} must be a regular file, and is not.\n`;
    expect(await apply()).toMatchObject({ code: 1, stderr: message });
    await rm(fifo);
    await symlink('/dev/null', fifo);
    expect(await apply()).toMatchObject({ code: 1, stderr: message });
    expect(await count()).toBe(0);
  });

  it('reads the files of a subfolder whose name ends like that of a file, and a file behind a link', async () => {
    await mkdir(join(folder, 'more.json'));
    await writeFile(join(folder, 'more.json/linked'), '{"key_id":"linked"}');
    await symlink(join(folder, 'more.json/linked'), join(folder, 'more.json/linked.json'));
    expect((await apply()).stderr).toContain('2 created');
    expect(await count()).toBe(2);
  });
});
