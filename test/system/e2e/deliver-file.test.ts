import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { fileGatewayNames, makeFileGateway, type FileGateway } from '../../support/file-gateways.js';
import { freePort } from '../../support/free-port.mjs';
import { start, type Running } from '../../support/process.js';
import { describeWith } from '../../support/programs.js';
import { until } from '../../support/until.js';

// `keyfront deliver file` keeps the file of a gateway current, while each of the three processes is killed. At random
// moments: test/faults/deliveries.test.ts.

let folder: string;
let main: string;
let port: number;
let service: Running;
let admin: string;
let credential: string;
let adapter: ChildProcess | undefined;
let gateway: FileGateway;

const data = () => join(folder, 'data');
const startService = () => start(main, data(), ['serve'], { PORT: String(port) });

function startAdapter(): ChildProcess {
  const env = {
    PATH: gateway.path,
    KEYFRONT_URL: `http://127.0.0.1:${port}`,
    KEYFRONT_SERVICE_CREDENTIAL: credential,
  };
  return spawn(process.execPath, [main, 'deliver', 'file', ...gateway.deliverArgs], { env, stdio: 'ignore' });
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const untilAdmitted = (keyID: string, orgID: string | undefined) =>
  until(
    () =>
      gateway.admitted(keyID).then(
        (found) => found === orgID,
        () => false,
      ),
    `The gateway ${orgID === undefined ? 'rejects' : 'admits'} ${keyID}`,
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
  port = await freePort();
  service = await startService();
  admin = /kf_svc_\w+/.exec(service.stdout())?.[0] ?? '';
  const issue = ['credentials', 'issue', '--kind', 'service', '--label', 'edge', '--scopes', 'read,deliver'];
  const env = { PATH: process.env['PATH'], KEYFRONT_DATA: data() };
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...issue], { env });
  credential = /kf_svc_\w+/.exec(stdout)?.[0] ?? '';
});
afterEach(async () => {
  await kill(adapter);
  await gateway.remove();
  service.signal('SIGKILL');
  await service.exited;
  await rm(folder, { recursive: true });
});

/** The longest identifier. */
const long = 'k'.repeat(255);

for (const name of fileGatewayNames) {
  describeWith(name, name, `keyfront deliver file, with ${name}`, () => {
    beforeEach(async () => {
      gateway = await makeFileGateway(name, folder);
    });

    it('lets exactly the present keys in, through kills of the service, the adapter and the gateway', async () => {
      for (const keyID of ['k1', 'k2', long]) await change('POST', keyID, '', '{"org_id":"acme"}');
      adapter = startAdapter();
      await until(() => existsSync(gateway.map), 'The first file');
      expect(statSync(gateway.map).mode & 0o777).toBe(0o600);
      gateway.start();
      await untilAdmitted('k1', 'acme');
      expect(await gateway.admitted('k1', { 'x-key-org': 'globex' })).toBe('acme');
      expect(await gateway.admitted(long)).toBe('acme');
      for (const keyID of ['unknown', '', 'k1,unknown', 'unknown,k1', 'default']) {
        expect([keyID, await gateway.admitted(keyID, { 'x-key-org': 'globex' })]).toEqual([keyID, undefined]);
      }
      // As the documents say, a map of nginx ignores the case.
      expect(await gateway.admitted('K1')).toBe(name === 'nginx' ? 'acme' : undefined);

      // A change while the adapter is dead arrives after its start.
      await kill(adapter);
      await change('DELETE', 'k1');
      expect(await gateway.admitted('k1')).toBe('acme');
      adapter = startAdapter();
      await untilAdmitted('k1', undefined);

      // A change right after a kill of the service arrives without a restart of the adapter.
      service.signal('SIGKILL');
      await service.exited;
      expect(await gateway.admitted('k2')).toBe('acme');
      service = await startService();
      const { key } = await change('POST', 'k2', '/rotate');
      await untilAdmitted(String(key), 'acme');
      expect(await gateway.admitted('k2')).toBe('acme');

      // A change while the gateway is dead is in the file that it starts with.
      await gateway.kill('main process');
      await change('DELETE', 'k2');
      await until(async () => !(await readFile(gateway.map, 'utf8')).includes('k2'), 'The file without the key');
      gateway.start();
      await untilAdmitted(long, 'acme');
      expect([await gateway.admitted('k2'), await gateway.admitted(String(key))]).toEqual([undefined, undefined]);

      // A change right after a kill of a worker arrives.
      await gateway.kill('worker');
      gateway.start();
      await change('POST', 'k3', '', '{"org_id":"globex"}');
      await untilAdmitted('k3', 'globex');
    });
  });
}
