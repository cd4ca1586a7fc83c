import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { IO } from '../../../src/cli/io.js';
import { run } from '../../../src/cli/main.js';
import { readResponse, type Running } from '../../support/process.js';
import { printedBy, useProcesses } from '../../support/processes.js';

const { path, start } = useProcesses();

/** An update whose body has come halfway; the rest is sent with the function. */
async function halfAnUpdate(one: Running): Promise<{ socket: Socket; finish: () => void }> {
  const socket = connect(one.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `PUT /svc/org/keys/acme-billing HTTP/1.1\r\nHost: x\r\nX-Svc-Authorization: ${printedBy(one).service}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{"alia',
  );
  // A response shows that the one sent before it has arrived.
  await fetch(`${one.url}/health`);
  return { socket, finish: () => socket.write('s":"late"}') };
}

describe('an uncaught exception', () => {
  const mutant = new URL('plant-fault.mjs', import.meta.url).href;
  it.each(['throw', 'reject', 'string'])(
    'O-03 (%s) is logged without secrets, lets requests in progress complete, and ends the process with exit code 1',
    async (fault) => {
      const one = await start(['--sample'], { NODE_OPTIONS: `--import=${mutant}`, PLANTED_FAULT: fault });
      const { socket, finish } = await halfAnUpdate(one);
      one.signal('SIGUSR2');
      await one.untilLogged('"level":"fatal"');
      await one.untilLogged('stopping');
      finish();
      expect(await readResponse(socket)).toMatch(/^HTTP\/1\.1 200 /);
      expect(await one.exited).toStrictEqual({ code: 1, signal: null });
      const fatal = one
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"fatal"'));
      expect(fatal).toHaveLength(1);
      const output = fault === 'string' ? 'A value that is no Error was thrown.' : 'planted';
      expect(JSON.parse(fatal[0] ?? '')).toMatchObject({ msg: 'uncaught exception', err: { message: output } });
      expect(one.stderr()).not.toContain('hunter2');
      // Every line is one of the log's: no stack of Node's own beside it.
      for (const line of one.stderr().trim().split('\n')) JSON.parse(line);
    },
  );
});

describe('a second signal', () => {
  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('O-01 (%s, then %s) ends at once a process that waits for a request', async (first, second) => {
    const one = await start(['--sample']);
    const { socket } = await halfAnUpdate(one);
    one.signal(first);
    await one.untilLogged('stopping');
    const began = performance.now();
    one.signal(second);
    expect(await one.exited).toStrictEqual({ code: null, signal: second });
    // Requests that are never finished are given up only after eight seconds.
    expect(performance.now() - began).toBeLessThan(5_000);
    socket.destroy();
  });
});

describe('the memory of the process', () => {
  it('S-12 is not opened to a debugger by SIGUSR1 in production, unlike in development', async () => {
    const production = await start([], { NODE_ENV: 'production' });
    production.signal('SIGUSR1');
    expect((await fetch(`${production.url}/health`)).status).toBe(200);
    expect(production.stderr()).not.toMatch(/debugger/i);
    // The default port of the debugger may be in use.
    const development = await start([], { NODE_OPTIONS: '--inspect-port=0' }, 'other');
    development.signal('SIGUSR1');
    await development.untilLogged('Debugger listening');
  });

  it.each([
    '--inspect=0',
    '--inspect-brk',
    '--inspect-port=9229',
    '--heapsnapshot-signal=SIGUSR2',
    '--heapsnapshot-near-heap-limit=1',
    '--heap-prof',
    '--report-on-fatalerror',
    '--report-on-signal',
    '--report-uncaught-exception',
  ])('S-12 is not exposed by options of Node in production: rejects a start with %s, and names it', async (option) => {
    let output = '';
    const io: IO = {
      env: { NODE_ENV: 'production', KEYFRONT_DATA: path('data'), PORT: '0' },
      stdout: () => undefined,
      stderr: (text) => (output += text),
      isStderrTTY: false,
      onStop: (callback) => callback(),
      nodeOptions: ['--no-warnings', option, ''],
    };
    expect(await run(['serve'], io)).toBe(1);
    expect(output).toBe(
      `In production, Node must not run with ${option.split('=', 1)[0]}, which exposes its memory.\n`,
    );
    expect(await run(['serve'], { ...io, env: { ...io.env, NODE_ENV: 'development' } })).toBe(0);
    expect(await run(['serve'], { ...io, nodeOptions: ['--disable-proto=delete', '--max-old-space-size=200'] })).toBe(
      0,
    );
  });

  it('is not exposed by an option in the environment either', async () => {
    const rejected = start([], {
      NODE_ENV: 'production',
      NODE_OPTIONS: '--inspect=0',
    });
    await expect(rejected).rejects.toThrow(
      'In production, Node must not run with --inspect, which exposes its memory.',
    );
  });
});

describe('serving beyond loopback', () => {
  it('T-01 uses plain HTTP in production only, with a warning in the log', async () => {
    const one = await start([], { NODE_ENV: 'production', HOST: '0.0.0.0' });
    await one.untilLogged('serving plain HTTP on a non-loopback address');
    await expect(start([], { HOST: '0.0.0.0' }, 'other')).rejects.toThrow(/loopback only/);
  });

  it('logs no warning on loopback', async () => {
    const one = await start([], { NODE_ENV: 'production' });
    // After the warnings.
    await one.untilLogged('"msg":"listening"');
    expect(one.stderr()).not.toContain('plain HTTP');
  });
});

describe('the service under Node without __proto__', () => {
  it('P-04 returns a preview, an update and a page as usual', async () => {
    const one = await start(['--sample'], { NODE_OPTIONS: '--disable-proto=delete' });
    const json = { 'content-type': 'application/json' };
    const preview = await fetch(`${one.url}/api/keys/preview`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${printedBy(one).management}` },
      body: '{"alias":"x","basic_auth_data":{"password":"p"}}',
    });
    expect(await preview.json()).toMatchObject({ data: { alias: 'x' } });
    const query =
      'mutation { updateOrgKey(keyID: "acme-billing", input: { basicAuthData: { password: "p", hashType: "argon2id" } }) { status version } }';
    const update = await fetch(`${one.url}/graphql`, {
      method: 'POST',
      headers: { ...json, 'x-svc-authorization': printedBy(one).service },
      body: JSON.stringify({ query }),
    });
    expect(await update.json()).toEqual({ data: { updateOrgKey: { status: 'ok', version: 2 } } });
    expect((await fetch(one.url)).status).toBe(200);
    expect(one.stderr()).not.toMatch(/"level":"(warn|error|fatal)"/);
    one.signal('SIGTERM');
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
  });
});
