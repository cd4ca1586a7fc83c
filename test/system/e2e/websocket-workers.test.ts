import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { buildMain } from '../../support/build.mjs';
import { certificate, writeTLSFiles, type TLSFixture } from '../../support/localhost-tls.js';
import { start, type Running } from '../../support/process.js';
import { changeIn, codesIn, connectSocket, type TestSocket } from '../../support/websocket.js';

let tls: TLSFixture;
let folder: string;
let service: string;
let server: Running;
const sockets: TestSocket[] = [];
beforeAll(async () => {
  tls = writeTLSFiles();
  const [main, made] = await Promise.all([buildMain(), mkdtemp(join(tmpdir(), 'keyfront-websocket-'))]);
  folder = made;
  const t = await startApp({ KEYFRONT_DATA: folder });
  await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before' });
  service = (await t.issue('service')).secret;
  await t.close();
  const env = { KEYFRONT_TLS_CERT: tls.certFile, KEYFRONT_TLS_KEY: tls.keyFile };
  server = await start(main, folder, ['serve', '--workers', '2'], env);
});
afterAll(async () => {
  for (const { socket } of sockets) socket.terminate();
  server.signal('SIGTERM');
  await server.exited;
  tls.remove();
  await rm(folder, { recursive: true });
});

const connect = async () => {
  const socket = await connectSocket(server.url, {}, { 'x-svc-authorization': service }, { ca: certificate });
  sockets.push(socket);
  return socket;
};

it('sends a change to the WebSockets of every worker process over TLS, and ends them when the service stops', async () => {
  expect(server.url).toMatch(/^https:/);
  // The connections are distributed to the workers in turn.
  const subscribers = [await connect(), await connect(), await connect(), await connect()];
  const payload = {
    query: 'subscription { orgKeyChanged { ... on OrgKeyChanged { entry { version } key { definition { alias } } } } }',
  };
  for (const subscriber of subscribers) {
    subscriber.send({ id: 's', type: 'subscribe', payload });
    // The first event has no change: the subscription has begun.
    await subscriber.nextOf('s');
  }
  const changer = await connect();
  const update = 'mutation { updateOrgKey(keyID: "k1", input: { alias: "after" }) { version } }';
  expect(await changer.request(update)).toMatchObject({ payload: { data: { updateOrgKey: { version: 2 } } } });
  for (const subscriber of subscribers) {
    expect(changeIn(await subscriber.nextOf('s'))).toEqual({
      entry: { version: 2 },
      key: { definition: { alias: 'after' } },
    });
  }
  server.signal('SIGTERM');
  for (const subscriber of subscribers) expect(codesIn(await subscriber.nextOf('s'))).toEqual(['UNAVAILABLE']);
});
