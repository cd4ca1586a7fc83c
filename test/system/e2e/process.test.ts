import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readResponse, type Running } from '../../support/process.js';
import { printedBy, putKey, useProcesses } from '../../support/processes.js';

const { path, start } = useProcesses();

async function stopped(one: Running) {
  one.signal('SIGTERM');
  return one.exited;
}

/** Does what a printed `curl` command would do. */
async function curl(command: string): Promise<Response> {
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  );
  const after = (option: string) => words.flatMap((word, index) => (words[index - 1] === option ? [word] : []));
  const headers = after('-H').map((header): [string, string] => {
    const [name = '', value = ''] = header.split(/: (.*)/s);
    return [name, value];
  });
  const [url = ''] = words.filter((word) => word.startsWith('http'));
  return fetch(url, { method: 'POST', headers, body: after('-d')[0] ?? '' });
}

describe('the first start', () => {
  it('prints one credential of each kind and commands that work as printed', async () => {
    const one = await start();
    const { stdout, stderr, url } = one;
    const { management, service } = printedBy(one);
    expect(management).not.toBe('');
    expect(service).not.toBe('');
    expect(stdout()).toContain(`GraphiQL:  ${url}/`);
    expect(stdout()).toContain(`REST API:  ${url}/docs`);
    expect(stdout()).toContain(`Console:   ${url}/console`);

    const commands = [...stdout().matchAll(/curl -s (?:[^\n]*\\\n)+[^\n]*/g)].map(([command]) => command);
    expect(commands).toHaveLength(2);
    const [rest, graphql] = await Promise.all(commands.map(curl));
    expect(rest?.status).toBe(200);
    expect(await rest?.json()).toMatchObject({ data: { alias: 'Billing', org_id: 'acme', per: 60, rate: 100 } });
    expect(graphql?.status).toBe(200);
    expect(await graphql?.json()).toMatchObject({
      data: { previewKey: { keyID: expect.stringMatching(/^acme_[0-9a-f]{40}$/) } },
    });
    expect(stderr()).not.toContain(management);
    expect(stderr()).not.toContain(service);
  });

  it('logs one line with the version, the address and the data folder', async () => {
    const { stderr, url, untilLogged } = await start();
    // Standard output, which contains the address, may arrive before standard error.
    await untilLogged('"msg":"listening"');
    const line = /^\{.*"msg":"listening".*\}$/m.exec(stderr())?.[0] ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      url,
      production: false,
      workers: 1,
      storage: 'sqlite',
      data: expect.stringMatching(/^\//) as string,
      quota: 'database',
    });
  });

  it('prints only served addresses in production, and none that cannot be opened', async () => {
    const { stdout } = await start([], { NODE_ENV: 'production', HOST: '0.0.0.0' });
    const advertised = [...stdout().matchAll(/https?:\/\/[^\s']+/g)].map(([url]) => url);
    const [listening = '', ...others] = advertised;
    expect(new URL(listening).hostname).toBe('0.0.0.0');
    expect(others.map((url) => new URL(url).hostname)).toEqual(others.map(() => '127.0.0.1'));
    const statuses = await Promise.all(others.map(async (url) => `${url} ${(await fetch(url)).status}`));
    expect(statuses.filter((status) => status.endsWith(' 404'))).toEqual([]);
    expect(stdout()).toContain('KEYFRONT_GRAPHIQL=on');
    expect(stdout()).not.toMatch(/GraphiQL: |REST API: |Console: /);
  });

  it('creates with --sample the keys that the printed update finds', async () => {
    const one = await start(['--sample']);
    expect(one.stdout()).toContain('Sample keys: 3 imported, 0 skipped (already exist). Try acme-billing.');
    const response = await putKey(one.url, printedBy(one).service, { quota_max: 5 }, 'acme-billing?reset_quota=1');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ action: 'modified', status: 'ok', key: 'acme-billing' });
  });

  it('creates no keys without --sample', async () => {
    const one = await start();
    expect((await putKey(one.url, printedBy(one).service, {})).status).toBe(404);
  });
});

describe('a later start', () => {
  it('prints no credential, and accepts those of the first start', async () => {
    const first = await start(['--sample']);
    const { management } = printedBy(first);
    await stopped(first);
    const second = await start(['--sample']);
    expect(second.stdout()).toContain(
      `Sample keys: 0 imported, 3 skipped (already exist). Try acme-billing.\nKeyfront listens on ${second.url}\n`,
    );
    expect(second.stdout()).toContain(`GraphiQL:  ${second.url}/`);
    expect(second.stdout()).toContain('npx keyfront credentials issue --kind service');
    expect(second.stdout()).not.toContain('kf_');
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${management}` };
    expect((await fetch(`${second.url}/api/keys/preview`, { method: 'POST', headers, body: '{}' })).status).toBe(200);
  });

  it('D-02 finds every acknowledged update after the process was killed', async () => {
    const first = await start(['--sample']);
    const { service } = printedBy(first);
    const put = async ({ url }: Running, alias: string) => (await putKey(url, service, { alias })).headers.get('etag');
    for (const version of [2, 3, 4, 5, 6]) expect(await put(first, `alias ${version}`)).toBe(`"${version}"`);
    first.signal('SIGKILL');
    expect(await first.exited).toStrictEqual({ code: null, signal: 'SIGKILL' });
    expect(await put(await start(), 'alias 7')).toBe('"7"');
  });

  it('prints the credentials that were not shown, after a start that failed at its port with a message', async () => {
    const { port } = await start();
    await expect(start([], { PORT: String(port) }, 'other')).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set PORT to another port.\n`,
    );
    const second = await start([], {}, 'other');
    expect(printedBy(second).management).not.toBe('');
  });
});

async function isRejected(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

describe('SIGTERM', () => {
  it('O-01 completes requests in progress, accepts no new ones, closes the database and exits with 0', async () => {
    const one = await start(['--sample']);
    const { service } = printedBy(one);
    const body = '{"alias":"in flight"}';
    const half = body.length / 2;
    const sockets = ['acme-billing', 'acme-mobile', 'globex-reports'].map((key) => {
      const socket = connect(one.port, '127.0.0.1');
      socket.write(
        `PUT /svc/org/keys/${key} HTTP/1.1\r\nHost: x\r\nX-Svc-Authorization: ${service}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
      );
      return socket;
    });
    const idle = connect(one.port, '127.0.0.1');
    await Promise.all([...sockets, idle].map(async (socket) => once(socket, 'connect')));
    // A response shows that the ones sent before it have arrived.
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);

    one.signal('SIGTERM');
    await one.untilLogged('stopping');
    await expect.poll(() => isRejected(one.port)).toBe(true);
    for (const socket of sockets) socket.write(body.slice(half));
    const responses = await Promise.all(sockets.map(readResponse));
    for (const result of responses) {
      expect(result).toMatch(/^HTTP\/1\.1 200 /);
      expect(result).toMatch(/^connection: close\r$/im);
      expect(result).toContain('"status":"ok"');
    }
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    expect((await readdir(path('data'))).sort()).toStrictEqual(['key-ring.json', 'keyfront.db']);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('does not wait for idle connections, and neither does %s', async (signal) => {
    const one = await start();
    const silent = connect(one.port, '127.0.0.1');
    await once(silent, 'connect');
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);
    const began = performance.now();
    one.signal(signal);
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    // Requests that are never finished are given up only after eight seconds.
    expect(performance.now() - began).toBeLessThan(7_000);
    silent.destroy();
  });
});

describe('the log of a service', () => {
  it('S-02 writes one log line for a request and one for its change, without the key identifier or a credential', async () => {
    const one = await start(['--sample']);
    const tokens = printedBy(one);
    const response = await putKey(one.url, tokens.service, { alias: 'x' });
    const requestID = String(response.headers.get('x-request-id'));
    // The line of the change comes first.
    await one.untilLogged('"msg":"request"');
    const lines = one
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const own = lines.filter((line) => line['requestID'] === requestID);
    expect(own).toMatchObject([
      { level: 'info', event: 'change', operation: 'updateOrgKey', verdict: 'accepted' },
      { level: 'info', method: 'PUT', route: '/svc/org/keys/*', status: 200 },
    ]);
    expect(one.stderr()).not.toContain('acme-billing');
    expect(one.stderr()).not.toContain(tokens.service);
  });
});
