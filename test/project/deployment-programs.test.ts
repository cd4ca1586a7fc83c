import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { writeTLSFiles } from '../support/localhost-tls.js';
import { describeWith } from '../support/programs.js';

// The files of docs/deploy, checked by the programs that read them.

const run = promisify(execFile);
const deploy = new URL('../../docs/deploy/', import.meta.url).pathname;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-deploy-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Writes a changed copy of a file into the folder of this test. */
async function copyWith(name: string, replacements: Readonly<Record<string, string>>): Promise<string> {
  let text = await readFile(join(deploy, name), 'utf8');
  for (const [old, next] of Object.entries(replacements)) {
    expect(text).toContain(old);
    text = text.replaceAll(old, next);
  }
  const file = join(folder, basename(name));
  await writeFile(file, text);
  return file;
}

describeWith('promtool', 'prometheus', 'promtool', () => {
  it('accepts the configuration of Prometheus and the alert rules, which fire as their tests say', async () => {
    expect((await run('promtool', ['check', 'config', join(deploy, 'prometheus.yml')])).stdout).toContain('SUCCESS');
    expect((await run('promtool', ['check', 'rules', join(deploy, 'alerts.yml')])).stdout).toContain('SUCCESS');
    await run('promtool', ['test', 'rules', join(deploy, 'alerts.test.yml')]);
  });

  it('sees an alert that does not fire', async () => {
    await copyWith('alerts.yml', { 'keyfront_redis_up == 0': 'keyfront_redis_up == 2' });
    await cp(join(deploy, 'alerts.test.yml'), join(folder, 'alerts.test.yml'));
    await expect(run('promtool', ['test', 'rules', join(folder, 'alerts.test.yml')])).rejects.toThrow(
      'KeyfrontRedisDown',
    );
  });
});

describeWith('nginx', 'nginx', 'nginx', () => {
  it('accepts its configuration', async () => {
    const tls = writeTLSFiles();
    const site = await copyWith('nginx.conf', {
      '/etc/ssl/keyfront/fullchain.pem': tls.certFile,
      '/etc/ssl/keyfront/privkey.pem': tls.keyFile,
    });
    const main = join(folder, 'main.conf');
    await writeFile(main, `pid ${folder}/nginx.pid; events {} http { access_log off; include ${site}; }`);
    const { stderr } = await run('nginx', ['-t', '-c', main, '-e', 'stderr'], { env: withSbin });
    expect(stderr).toContain('test is successful');
    expect(stderr).not.toContain('[warn] the "listen');
    tls.remove();
  });

  it('accepts the gateway that reads keys from a file', async () => {
    const map = join(folder, 'nginx.map');
    await writeFile(map, '"key-1" "acme";\n');
    const site = await copyWith('gateway/nginx-keys.conf', { '/etc/nginx/keys.map': map });
    const main = join(folder, 'keys.conf');
    await writeFile(main, `pid ${folder}/nginx.pid; events {} http { access_log off; include ${site}; }`);
    const { stderr } = await run('nginx', ['-t', '-c', main, '-e', 'stderr'], { env: withSbin });
    expect(stderr).toContain('test is successful');
    expect(stderr).not.toContain('[warn] could not build');
  });
});

describeWith('haproxy', 'haproxy', 'haproxy', () => {
  it('accepts the gateway that reads keys from a file', async () => {
    const map = join(folder, 'haproxy.map');
    await writeFile(map, 'key-1 acme\n');
    const site = await copyWith('gateway/haproxy-keys.cfg', { '/etc/haproxy/keys.map': map });
    const { stdout, stderr } = await run('haproxy', ['-c', '-f', site], { env: withSbin });
    expect(`${stdout}${stderr}`).toBe('Configuration file is valid\n');
  });
});

describeWith('caddy', 'caddy', 'caddy', () => {
  it('accepts its configuration', async () => {
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const { stdout, stderr } = await run(
      'caddy',
      ['validate', '--adapter', 'caddyfile', '--config', join(deploy, 'Caddyfile')],
      { env },
    );
    expect(`${stdout}${stderr}`).toContain('Valid configuration');
  });
});

describeWith('systemd-analyze', 'systemd', 'systemd-analyze', () => {
  it('accepts the units', async () => {
    // It also checks that the programs exist.
    const programs = { '/usr/bin/node': process.execPath };
    const units = [
      await copyWith('keyfront.service', programs),
      await copyWith('keyfront-backup.service', { '/opt/keyfront/docs/deploy': deploy.replace(/\/$/, '') }),
      await copyWith('keyfront-backup.timer', {}),
    ];
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', ...units]);
    expect(stderr.split('\n').filter((line) => line.includes('keyfront'))).toEqual([]);
    const wrong = await copyWith('keyfront.service', { ...programs, 'Restart=on-failure': 'Restart=sometimes' });
    const problems = await run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', wrong]).catch(
      (error: unknown) => error as { stderr: string },
    );
    expect(problems.stderr).toContain('sometimes');
  });
});

describe('backup.sh', () => {
  let program: string;
  let env: Record<string, string | undefined>;
  beforeAll(async () => {
    const main = await buildMain();
    program = join(folder, 'program');
    await mkdir(join(program, 'dist'), { recursive: true });
    await writeFile(join(program, 'dist', 'main.js'), `await import(${JSON.stringify(main)});\n`);
    env = {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      PROGRAM: program,
      KEYFRONT_DATA: join(folder, 'data'),
      BACKUPS: join(folder, 'backups'),
      KEEP_DAYS: '7',
    };
    await run(process.execPath, [main, 'init'], { env });
    await mkdir(join(folder, 'backups'), { mode: 0o700 });
  });
  const backups = async () => (await readdir(join(folder, 'backups'))).toSorted();
  /** Makes a folder that was last written some days ago. */
  async function age(name: string, days: number): Promise<void> {
    const at = new Date(Date.now() - days * 86_400_000);
    await mkdir(join(folder, 'backups', name));
    await utimes(join(folder, 'backups', name), at, at);
  }

  it('makes a backup that can be restored, and deletes only backups that are older than KEEP_DAYS', async () => {
    await age('2026-01-01T023000Z', 9);
    await age('2026-01-09T023000Z', 3);
    await age('mine', 900);
    await run('sh', [join(deploy, 'backup.sh')], { env });
    const [made, ...rest] = (await backups()).filter((name) => name !== '2026-01-09T023000Z');
    expect(rest).toEqual(['mine']);
    expect(made).toMatch(/^\d{4}-\d\d-\d\dT\d{6}Z$/);
    const restored = join(folder, 'restored');
    await mkdir(restored, { mode: 0o700 });
    await cp(join(folder, 'data', 'key-ring.json'), join(restored, 'key-ring.json'));
    const main = join(program, 'dist', 'main.js');
    const restore = ['restore', join(folder, 'backups', made ?? '')];
    await run(process.execPath, [main, ...restore], { env: { ...env, KEYFRONT_DATA: restored } });
  });

  it('deletes nothing if the backup fails', async () => {
    await age('2026-01-02T023000Z', 9);
    const before = await backups();
    const missing = { ...env, KEYFRONT_DATA: join(folder, 'nothing') };
    await expect(run('sh', [join(deploy, 'backup.sh')], { env: missing })).rejects.toThrow('nothing');
    expect(await backups()).toEqual(before);
  });
});

const withSbin = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` };
