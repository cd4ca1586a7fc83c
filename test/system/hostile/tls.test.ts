import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeCommandLine } from '../../support/cli.js';
import { certificate, writeTLSFiles, type TLSFixture } from '../../support/localhost-tls.js';
import { exchange, received, startServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

let files: TLSFixture;
let s: TestServer;
beforeAll(async () => {
  files = writeTLSFiles();
  s = await startServer({}, { tls: files });
});
afterAll(async () => {
  await s.close();
  files.remove();
});

/** What a client hears that speaks only what is given: a version of TLS, or why there is none. */
async function spoken(options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: s.port, host: '127.0.0.1', servername: 'localhost', ca: certificate, ...options });
    socket.on('secureConnect', () => {
      resolve(socket.getProtocol() ?? 'none');
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe('a service with a certificate and its key', () => {
  it('serves HTTPS, and prints the https address', async () => {
    expect(s.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const body = await new Promise<string>((resolve, reject) => {
      get(`${s.url}/health`, { ca: certificate, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(`${response.statusCode} ${text}`));
      }).on('error', reject);
    });
    expect(body).toBe('200 ok\n');
  });

  it('T-01 accepts TLS 1.2 and 1.3, and nothing older', async () => {
    expect(await spoken({ minVersion: 'TLSv1.3' })).toBe('TLSv1.3');
    expect(await spoken({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })).toBe('TLSv1.2');
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      // A client of today would not even try. This one does.
      const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
      expect(await spoken(old)).toMatch(/^(ERR_SSL_|EPROTO|ECONNRESET)/);
    }
  });

  it('T-01 returns no response and no redirect to plain HTTP', async () => {
    const result = await exchange(s.port, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(result).toMatchObject({ status: 0, text: '', isClosed: true });
  });

  it('continues after random bytes instead of a handshake', async () => {
    await exchange(s.port, '\x16\x03\x01\xff\xff\0\0\0\0');
    expect(await spoken({})).toBe('TLSv1.3');
  });

  it('T-02 closes the connection of a handshake that never ends', async () => {
    const quick = await startServer(
      {},
      { tls: files, timeouts: { headersMs: 300, requestMs: 500, responseMs: 1_000, idleMs: 500 } },
    );
    const { isClosed } = await exchange(quick.port, '\x16\x03\x01');
    expect(isClosed).toBe(true);
    await quick.close();
  });

  it('stops at once with connections that are idle, silent or in the middle of a handshake', async () => {
    const own = await startServer({}, { tls: files });
    const options = { port: own.port, host: '127.0.0.1', servername: 'localhost', ca: certificate };
    const idle = connect(options);
    idle.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    const silent = connect(options);
    await new Promise((resolve) => silent.once('secureConnect', resolve));
    const all = [exchange(own.port, '\x16\x03\x01'), received(idle), received(silent)];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const closing = own.close();
      await until(() => vi.getTimerCount() > 0, 'The begin of the stop');
      // As long as a silent connection has for its first request. The moment at which all are cut does not come.
      vi.advanceTimersByTime(500);
      await closing;
    } finally {
      vi.useRealTimers();
    }
    for (const { isClosed } of await Promise.all(all)) expect(isClosed).toBe(true);
  });
});

describe('the settings of TLS', () => {
  async function output(env: Record<string, string>): Promise<string> {
    const c = await makeCommandLine();
    const outcome = await c.keyfront(['serve'], { PORT: '0', ...env });
    await c.remove();
    expect(outcome.code).toBe(1);
    expect(outcome.out).toBe('');
    return outcome.stderr;
  }
  const with_ = (certFile: string, keyFile: string) => ({ KEYFRONT_TLS_CERT: certFile, KEYFRONT_TLS_KEY: keyFile });

  it('O-08 are rejected one without the other', async () => {
    for (const name of ['KEYFRONT_TLS_CERT', 'KEYFRONT_TLS_KEY']) {
      expect(await output({ [name]: files.certFile })).toContain(
        'KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY belong together; one of them is missing.',
      );
    }
  });

  it('are rejected by name for a missing or unreadable file, without issuing a credential', async () => {
    const nowhere = join(files.folder, 'nowhere.pem');
    expect(await output(with_(nowhere, files.keyFile))).toBe(
      `TLS: the certificate ${nowhere} cannot be read: it does not exist; check the path (ENOENT).\n`,
    );
    expect(await output(with_(files.certFile, nowhere))).toBe(
      `TLS: the private key ${nowhere} cannot be read: it does not exist; check the path (ENOENT).\n`,
    );
    expect(await output(with_(files.folder, files.keyFile))).toBe(
      `TLS: the certificate ${files.folder} cannot be read: it is a folder; name a file (EISDIR).\n`,
    );
    chmodSync(files.keyFile, 0o600);
  });

  it('are rejected by name for a file that is not PEM, without quoting it', async () => {
    expect(await output(with_(files.keyFile, files.keyFile))).toBe(
      `TLS: the file ${files.keyFile} contains no certificate in PEM.\n`,
    );
    expect(await output(with_(files.certFile, files.certFile))).toBe(
      `TLS: the file ${files.certFile} contains no private key in PEM.\n`,
    );
  });

  it('are rejected by name for a key of another certificate, and for a text that is no certificate', async () => {
    const other = join(files.folder, 'other.key');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(other, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(await output(with_(files.certFile, other))).toBe(
      `TLS: the private key ${other} does not belong to the certificate ${files.certFile}, or one of them cannot be used.\n`,
    );
    const broken = join(files.folder, 'broken.crt');
    writeFileSync(broken, certificate.replace(/\n.{10}/, '\nAAAAAAAAAA'));
    expect(await output(with_(broken, files.keyFile))).toContain('or one of them cannot be used');
  });
});
