import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { freePort } from '../../support/free-port.mjs';
import { start, type Running } from '../../support/process.js';
import { describeWith } from '../../support/programs.js';
import { until } from '../../support/until.js';

// `keyfront deliver file` keeps a map of nginx current, while each of the three processes is killed.

let folder: string;
let main: string;
let port: number;
let service: Running;
let admin: string;
let credential: string;
let adapter: ChildProcess | undefined;
let nginx: ChildProcess | undefined;
let nginxPort: number;

const environment = () => ({ PATH: `${process.env['PATH']}:/usr/sbin`, KEYFRONT_DATA: join(folder, 'data') });
const startService = () => start(main, join(folder, 'data'), ['serve'], { PORT: String(port) });
const map = () => join(folder, 'keys.map');

function startAdapter(): ChildProcess {
  const args = [main, 'deliver', 'file', map(), '--template', join(folder, 'line.txt')];
  const reload = `test ! -s ${folder}/nginx.pid || kill -HUP $(cat ${folder}/nginx.pid)`;
  const env = {
    ...environment(),
    KEYFRONT_URL: `http://127.0.0.1:${port}`,
    KEYFRONT_SERVICE_CREDENTIAL: credential,
  };
  return spawn(process.execPath, [...args, '--run', reload], { env, stdio: 'ignore' });
}

function startNginx(): ChildProcess {
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')];
  return spawn('nginx', args, { env: environment(), stdio: 'ignore' });
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** The organization that nginx lets a key in for; undefined if it rejects the key. */
async function admitted(keyID: string): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${nginxPort}/`, { headers: { 'x-api-key': keyID } });
  return response.status === 200 ? (await response.text()).trim() : undefined;
}

const untilAdmitted = (keyID: string, orgID: string | undefined) =>
  until(
    () =>
      admitted(keyID).then(
        (found) => found === orgID,
        () => false,
      ),
    `nginx ${orgID === undefined ? 'rejects' : 'admits'} ${keyID}`,
  );

async function change(method: string, keyID: string, action = '', body = '{}'): Promise<Record<string, unknown>> {
  const hasBody = method === 'POST' && action === '';
  const response = await fetch(`http://127.0.0.1:${port}/svc/org/keys/${keyID}${action}`, {
    method,
    headers: { 'x-svc-authorization': admin, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-deliver-'));
  main = await buildMain();
  [port, nginxPort] = [await freePort(), await freePort()];
  service = await startService();
  admin = /kf_svc_\w+/.exec(service.stdout())?.[0] ?? '';
  const issue = ['credentials', 'issue', '--kind', 'service', '--label', 'edge', '--scopes', 'read,deliver'];
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...issue], { env: environment() });
  credential = /kf_svc_\w+/.exec(stdout)?.[0] ?? '';
  await writeFile(join(folder, 'line.txt'), '"{key}" "{org_id}";\n');
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; pid nginx.pid; error_log error.log;
     events {}
     http {
       access_log off;
       client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
       map $http_x_api_key $key_org { default ""; include keys.map; }
       server {
         listen 127.0.0.1:${nginxPort};
         location / { if ($key_org = "") { return 401; } return 200 "$key_org\\n"; }
       }
     }`,
  );
});
afterEach(async () => {
  await kill(adapter);
  nginx?.kill('SIGTERM');
  if (nginx && nginx.exitCode === null && nginx.signalCode === null) await once(nginx, 'exit');
  service.signal('SIGKILL');
  await service.exited;
  await rm(folder, { recursive: true });
});

describeWith('nginx', 'nginx', 'keyfront deliver file, with nginx', () => {
  it('lets exactly the present keys in, through kills of the service, the adapter and nginx', async () => {
    for (const keyID of ['k1', 'k2']) await change('POST', keyID, '', '{"org_id":"acme"}');
    adapter = startAdapter();
    await until(() => existsSync(map()), 'The first file');
    expect(statSync(map()).mode & 0o777).toBe(0o600);
    nginx = startNginx();
    await untilAdmitted('k1', 'acme');
    expect(await admitted('unknown')).toBeUndefined();

    // A change while the adapter is dead arrives after its start.
    await kill(adapter);
    await change('DELETE', 'k1');
    expect(await admitted('k1')).toBe('acme');
    adapter = startAdapter();
    await untilAdmitted('k1', undefined);

    // A change right after a kill of the service arrives without a restart of the adapter.
    service.signal('SIGKILL');
    await service.exited;
    expect(await admitted('k2')).toBe('acme');
    service = await startService();
    const { key } = await change('POST', 'k2', '/rotate');
    await untilAdmitted(String(key), 'acme');
    expect(await admitted('k2')).toBe('acme');

    // A change while nginx is dead is in the file that it starts with.
    const pid = Number(await readFile(join(folder, 'nginx.pid'), 'utf8'));
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
    expect(pid).toBe(nginx.pid);
    await change('DELETE', 'k2');
    await until(async () => !(await readFile(map(), 'utf8')).includes('k2'), 'The file without the key');
    nginx = startNginx();
    await until(() =>
      admitted('k2').then(
        () => true,
        () => false,
      ),
    );
    expect([await admitted('k2'), await admitted(String(key))]).toEqual([undefined, undefined]);
    await change('POST', 'k3', '', '{"org_id":"globex"}');
    await untilAdmitted('k3', 'globex');
  });
});
