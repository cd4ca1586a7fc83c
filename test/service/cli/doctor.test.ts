import { chmodSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkClock, checkTLS, judgeDisk, type Finding, judgeSkew } from '../../../src/cli/doctor-checks.js';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';
import { readConfig } from '../../../src/config/config.js';
import { openServices } from '../../../src/storage/open-storage.js';
import { makeOwnPlace, postgres, postgresAndRedis, type EnginePlace } from '../../support/engines.js';
import { writeTLSFiles, type TLSFixture } from '../../support/localhost-tls.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

async function examine(env: Record<string, string> = {}) {
  const { code, out, stderr } = await c.keyfront(['doctor', '--json'], env);
  const findings = jsonLines(out) as unknown as Finding[];
  for (const { status, remedy } of findings) expect(remedy === undefined).toBe(status === 'ok');
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return { code, stderr, findings, of };
}

describe('keyfront doctor', () => {
  beforeEach(async () => {
    expect((await c.keyfront(['init'])).code).toBe(0);
  });

  it('finds no problem in a new installation, and changes nothing', async () => {
    // Reading a database creates its two files of shared memory and log, which stay empty.
    const state = () =>
      ['key-ring.json', 'keyfront.db'].map((name) => `${name} ${statSync(join(c.folder, name)).mtimeMs}`);
    const before = state();
    const { code, findings } = await examine();
    expect(code).toBe(0);
    expect(findings.filter(({ status }) => status === 'failed')).toStrictEqual([]);
    expect(findings.map(({ check }) => check)).toStrictEqual([
      'configuration',
      'permissions',
      'disk',
      'database',
      'key ring',
      'clock',
      'credentials',
      'Redis',
      'webhooks',
    ]);
    expect(state()).toStrictEqual(before);
  });

  it.each<[string, string, 'warning' | 'failed', RegExp, () => object | Promise<object>]>([
    [
      'plain HTTP on other addresses',
      'configuration',
      'warning',
      /TLS/,
      () => ({ NODE_ENV: 'production', HOST: '0.0.0.0' }),
    ],
    [
      'a folder that other users can read, and the command that corrects it',
      'permissions',
      'failed',
      /^Run: chmod 700 \S+$/,
      () => {
        chmodSync(c.folder, 0o755);
        return {};
      },
    ],
    [
      'a paused webhook',
      'webhooks',
      'warning',
      /^Run: keyfront webhooks resume hook_\w+$/,
      async () => {
        const added = await c.keyfront(['webhooks', 'add', '--to', 'http://127.0.0.1:9/', '--json']);
        await c.keyfront(['webhooks', 'pause', (JSON.parse(added.out) as { id: string }).id]);
        return {};
      },
    ],
    [
      'a Redis that cannot be reached',
      'Redis',
      'failed',
      /KEYFRONT_QUOTA_URL/,
      () => ({ KEYFRONT_QUOTA_URL: 'redis://127.0.0.1:1' }),
    ],
  ])('reports %s', async (_, check, status, remedy, prepare) => {
    const { code, of } = await examine((await prepare()) as Record<string, string>);
    expect(code).toBe(status === 'failed' ? 1 : 0);
    expect(of(check)).toMatchObject([{ status, remedy: expect.stringMatching(remedy) as string }]);
  });

  it('reports a missing key ring, and one of another database', async () => {
    const ring = join(c.folder, 'key-ring.json');
    renameSync(ring, `${ring}.away`);
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('key ring')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('does not exist') as string },
    ]);
    const other = await makeOwnCommandLine();
    await other.create();
    const env = { KEYFRONT_KEY_RING: join(other.folder, 'key-ring.json') };
    expect((await examine(env)).of('key ring')).toMatchObject([{ status: 'failed' }]);
  });

  it('reports credentials that expire soon, and that none is valid', async () => {
    const issue = 'credentials issue --kind service --label x --expires 12h --json';
    const issued = await c.keyfront(issue.split(' '));
    const { id } = JSON.parse(issued.out) as { id: string };
    expect((await examine()).of('credentials')).toMatchObject([
      { status: 'warning', remedy: `Run: keyfront credentials rotate ${id}` },
    ]);
    for (const { id: each } of jsonLines((await c.keyfront(['credentials', 'list', '--json'])).out)) {
      await c.keyfront(['credentials', 'revoke', String(each)]);
    }
    expect((await examine()).of('credentials')).toMatchObject([
      { status: 'warning', message: 'No service credential is valid.' },
    ]);
  });
});

describe.skipIf(postgres.isMissing)(`keyfront doctor on ${postgres.name}`, () => {
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(postgres);
  });

  it('finds no problem, and checks no file but the key ring', async () => {
    expect((await c.keyfront(['init'], place.env)).code).toBe(0);
    const { code, findings, of } = await examine(place.env);
    expect([code, findings.filter(({ status }) => status !== 'ok').map(({ check }) => check)]).toStrictEqual([
      0,
      ['service'],
    ]);
    expect(of('database')).toMatchObject([{ message: expect.stringContaining('number of keys: 0') as string }]);
    expect(of('Redis')).toMatchObject([{ message: 'Not used: the live quota is in the database.' }]);
  });

  it.each(['production', 'development'])(
    'names the profile %s of the service, not that of the shell',
    async (profile) => {
      expect((await c.keyfront(['init'], place.env)).code).toBe(0);
      expect((await examine(place.env)).of('service')).toMatchObject([
        { status: 'warning', message: expect.stringContaining('none runs') as string },
      ]);
      const { config, secrets } = readConfig({ ...place.env, NODE_ENV: profile });
      const service = await openServices(config, secrets);
      await service.ringReports.report();
      await service.close();
      const shell = profile === 'production' ? 'development' : 'production';
      const { of, findings } = await examine({ ...place.env, NODE_ENV: shell });
      const message = expect.stringMatching(new RegExp(`^The service of .+ runs in ${profile}\\.$`)) as string;
      expect(of('service')).toMatchObject([{ status: 'ok', message }]);
      expect(JSON.stringify(findings)).not.toContain(shell);
    },
  );

  it('proposes keyfront init in an empty database', async () => {
    const { code, of } = await examine(place.env);
    expect(code).toBe(1);
    expect(of('database')).toMatchObject([
      { status: 'failed', remedy: expect.stringContaining('keyfront init') as string },
    ]);
  });

  it('reports a key ring of another database, and a server that cannot be reached', async () => {
    expect((await c.keyfront(['init'], place.env)).code).toBe(0);
    await c.create();
    const other = await examine({ ...place.env, KEYFRONT_DATA: c.folder });
    expect(other.code).toBe(1);
    expect(other.of('key ring')).toMatchObject([{ status: 'failed' }]);
    // secret-scan: fixture
    const env = { ...place.env, KEYFRONT_DATABASE_URL: 'postgres://doctor:Xq7-password@127.0.0.1:1/keyfront' };
    const away = await examine(env);
    expect(away.code).toBe(1);
    expect(away.of('database')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('127.0.0.1:1') as string },
    ]);
    expect(JSON.stringify(away)).not.toContain('Xq7-');
  });
});

describe.skipIf(postgresAndRedis.isMissing)(`keyfront doctor on ${postgresAndRedis.name}`, () => {
  it('reads the live counters of Redis', async () => {
    const place = await makeOwnPlace(postgresAndRedis);
    expect((await c.keyfront(['init'], place.env)).code).toBe(0);
    const { code, of } = await examine(place.env);
    expect(code).toBe(0);
    expect(of('Redis')).toMatchObject([{ status: 'ok', message: 'The live quota in Redis can be read.' }]);
  });
});

describe('keyfront doctor --url', () => {
  let served: Awaited<ReturnType<typeof serveFolder>>;
  beforeEach(async () => {
    await c.create();
    served = await serveFolder(c);
  });

  it('finds no problem in a service that is ready', async () => {
    const { code, findings } = await examine(served.env);
    expect(code).toBe(0);
    expect(findings.map(({ check, status }) => [check, status])).toStrictEqual([
      ['service', 'ok'],
      ['clock', 'ok'],
      ['credential', 'ok'],
    ]);
  });

  it('reports an invalid credential and does not print it', async () => {
    const credential = 'kf_svc_wrong';
    const { code, of, stderr, findings } = await examine({ ...served.env, KEYFRONT_SERVICE_CREDENTIAL: credential });
    expect(code).toBe(1);
    expect(of('credential')).toMatchObject([{ status: 'failed' }]);
    expect(JSON.stringify(findings) + stderr).not.toContain(credential);
  });

  it('reports a service that cannot be reached, and one that is not Keyfront', async () => {
    const away = await examine({ ...served.env, KEYFRONT_URL: 'http://127.0.0.1:1' });
    expect(away.code).toBe(1);
    expect(away.findings).toMatchObject([
      {
        check: 'service',
        status: 'failed',
        message: expect.stringContaining('Cannot connect to http://127.0.0.1:1') as string,
      },
    ]);
    const other = await examine({ ...served.env, KEYFRONT_URL: `${served.server.url}/elsewhere` });
    expect(other.of('service')).toMatchObject([{ status: 'failed', remedy: 'Correct --url or KEYFRONT_URL.' }]);
  });

  it.each([
    ['2026-11-21T12:01:00Z', 'ok'],
    ['2026-11-21T12:01:01Z', 'warning'],
    ['2026-11-21T11:58:00Z', 'warning'],
  ])('judges the clock %s of a service as %s at 12:00', (time, status) => {
    expect(judgeSkew(new Date(time), new Date('2026-11-21T12:00:00Z')).status).toBe(status);
  });
});

describe('the certificate', () => {
  let files: TLSFixture;
  beforeEach(() => {
    files = writeTLSFiles();
  });
  afterEach(() => files.remove());

  it.each([
    ['2026-12-01T00:00:00Z', 'ok'],
    ['2126-10-20T00:00:00Z', 'warning'],
    ['2126-10-29T00:00:00Z', 'failed'],
  ])('is judged at %s as %s', (now, status) => {
    expect(checkTLS(files, new Date(now)).status).toBe(status);
  });

  it('is checked if the settings name one', async () => {
    const env = { KEYFRONT_TLS_CERT: files.certFile, KEYFRONT_TLS_KEY: files.folder };
    const { code, of } = await examine(env);
    expect(code).toBe(1);
    expect(of('certificate')).toMatchObject([
      { status: 'failed', message: expect.stringContaining('it is a folder') as string },
    ]);
  });
});

const mebibyte = 1024 * 1024;

it.each([
  [99 * mebibyte, 0, 'failed'],
  [100 * mebibyte, 0, 'warning'],
  [1024 * mebibyte, 0, 'ok'],
  [1024 * mebibyte, 2048 * mebibyte, 'warning'],
])('judges %i free bytes beside a database of %i bytes as %s', (free, database, status) => {
  expect(judgeDisk('/data', free, database).status).toBe(status);
});

it.each([
  ['1970-01-02T00:00:00Z', undefined, 'failed'],
  ['2026-11-21T12:00:00Z', undefined, 'ok'],
  ['2026-11-21T12:00:00Z', '2026-11-21T12:00:59Z', 'ok'],
  ['2026-11-21T12:00:00Z', '2026-11-21T12:02:00Z', 'failed'],
])('judges the clock %s with a newest change of %s as %s', (now, newest, status) => {
  expect(checkClock(new Date(now), newest === undefined ? undefined : new Date(newest)).status).toBe(status);
});
