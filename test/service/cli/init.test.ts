import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnServer } from '../../support/server.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

describe('keyfront init', () => {
  it('creates an installation whose credentials a service accepts', async () => {
    const { code, out, stderr } = await c.keyfront(['init']);
    expect(code).toBe(0);
    expect(stderr).toContain(join(c.folder, 'key-ring.json'));
    const [, management = '', service = ''] = /^management (\S+)\nservice (\S+)\n$/.exec(out) ?? [];
    expect(stderr).not.toContain(service);
    const server = await startOwnServer({ KEYFRONT_DATA: c.folder });
    const url = `${server.url}/svc/org/keys`;
    expect((await fetch(url, { headers: { 'x-svc-authorization': service } })).status).toBe(200);
    expect((await fetch(url, { headers: { 'x-svc-authorization': management } })).status).toBe(401);
  });

  it('writes the credentials to a private file in production', async () => {
    const { code, out, stderr } = await c.keyfront(['init', '--json'], { NODE_ENV: 'production' });
    expect(code).toBe(0);
    const file = join(c.folder, 'first-credentials.txt');
    expect(JSON.parse(out)).toStrictEqual({
      database: join(c.folder, 'keyfront.db'),
      key_ring: join(c.folder, 'key-ring.json'),
      credentials_file: file,
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const secrets = readFileSync(file, 'utf8').match(/kf_\S+/g) ?? [];
    expect(secrets).toHaveLength(2);
    for (const secret of secrets) expect(out + stderr).not.toContain(secret);
  });
});
