import { eventLoopTurns } from '../../../support/until.js';
import { followQuery } from '../../../support/event-stream.js';
import type { Client } from './client.js';

/** Clients that connect at the same time. */
export interface Batch {
  /** A credential of kind service. */
  readonly credential: string;
  /** Resolves when one of the clients has received a response, while the requests of most others wait or are executed. */
  readonly firstResponse: Promise<void>;
}

/** A moment in the life of a connection. */
export interface Stage {
  readonly name: string;
  /** The maximum number of connections at the same time, because each costs much. */
  readonly atMost?: number;
  /** Brings a connection to the stage. */
  readonly reach: (client: Client, batch: Batch) => Promise<void>;
}

const host = 'Host: x\r\n';
const json = 'Content-Type: application/json\r\n';
const auth = ({ credential }: Batch) => `X-Svc-Authorization: ${credential}\r\n`;
const sized = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`;

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`;
const write = (method: 'PUT' | 'PATCH', batch: Batch) =>
  `${method} /svc/org/keys/acme-billing HTTP/1.1\r\n${host}${auth(batch)}${json}${sized('{"org_id":"acme","alias":"cut"}')}`;
const operation = (query: string, headers: string) =>
  `POST /graphql HTTP/1.1\r\n${host}${json}${headers}${sized(JSON.stringify({ query }))}`;

/** Client by client a little later, so that the server has read nothing, or has begun, or is done. */
const atAnyMoment = ({ index }: Client) => eventLoopTurns(index % 6);

/**
 * Sends bytes that are no complete request. Every second client sends a request before: its response shows that the server
 * has read the bytes.
 */
function incomplete(name: string, path: string, bytes: string): Stage {
  return {
    name,
    reach: async (client) => {
      const isFirst = client.index % 2 === 0;
      await client.send(isFirst ? bytes : `${get(path)}${bytes}`);
      if (!isFirst) await client.received('HTTP/1.1 200');
    },
  };
}

/** Sends a request that the server rejects itself. */
function rejected(name: string, bytes: string, status: number): Stage {
  return {
    name,
    reach: async (client) => {
      await client.send(bytes);
      if (client.index % 2 === 0) await atAnyMoment(client);
      else await client.received(`HTTP/1.1 ${status}`);
    },
  };
}

/** Stages before a request is complete, at any port. */
function beginnings(path: string): readonly Stage[] {
  return [
    { name: 'connection', reach: atAnyMoment },
    incomplete('request line', path, 'GET /hea'),
    incomplete('headers', path, `GET /health HTTP/1.1\r\n${host}X-Begun: `),
  ];
}

const upgrade = (headers = '') =>
  get(
    '/graphql',
    `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n${headers}`,
  );

/** The stages of HTTP, at the port of the service. */
export const httpStages: readonly Stage[] = [
  ...beginnings('/health'),
  {
    name: 'body',
    reach: async (client, batch) => {
      const headers = `${host}${auth(batch)}${json}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n`;
      const method = client.index % 2 === 0 ? 'PUT' : 'PATCH';
      await client.send(`${method} /svc/org/keys/acme-billing HTTP/1.1\r\n${headers}`);
      await client.received('HTTP/1.1 100');
      await client.send('{"org_id":');
    },
  },
  {
    name: 'queued',
    reach: async (client, batch) => {
      await client.send(get('/svc/org/keys/acme-billing', auth(batch)).repeat(10));
      await batch.firstResponse;
    },
  },
  {
    name: 'executing',
    reach: async (client, batch) => {
      await client.send(`${write('PUT', batch)}${write('PATCH', batch)}`);
      await batch.firstResponse;
    },
  },
  {
    name: 'a decision for a gateway',
    reach: async (client, batch) => {
      const original = 'X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /invoices/7\r\nX-API-Key: globex-reports\r\n';
      const body = '{"requests":[{"key_id":"globex-reports"},{"key_id":"globex-reports"}]}';
      const verify = `POST /svc/keys/verify HTTP/1.1\r\n${host}${auth(batch)}${json}${sized(body)}`;
      await client.send(`${get('/authz', auth(batch) + original)}${verify}`);
      await batch.firstResponse;
    },
  },
  {
    name: 'a delivery of keys with their secrets',
    reach: async (client, batch) => {
      const page = operation('{ deliverKeys { items { key { data } } } }', auth(batch));
      await client.send(`${get('/svc/keys/deliver', auth(batch))}${page}`.repeat(5));
      await batch.firstResponse;
    },
  },
  {
    name: 'a change of policies, and a rotation',
    reach: async (client, batch) => {
      const change = (mutation: string) => operation(`mutation { ${mutation} { version } }`, auth(batch));
      const changes = [
        `putKeyPolicies(policies: [{ policyID: "cut-${client.index % 6}", rate: 1, per: 1 }], dryRun: false)`,
        'removeKeyPolicies(policyIDs: ["cut-0"], dryRun: false)',
        'rotateOrgKey(keyID: "globex-reports", overlap: 60)',
        'cancelKeyRotation(keyID: "globex-reports")',
      ];
      await client.send(changes.map(change).join(''));
      await batch.firstResponse;
    },
  },
  {
    name: 'response',
    // Larger than the buffers of the sockets between the two.
    atMost: 5,
    reach: async (client) => {
      await client.send(get('/graphiql/graphiql.js').repeat(4));
      await client.received('HTTP/1.1 200');
      client.pause();
    },
  },
  {
    name: 'begin of an event stream',
    reach: async (client) => {
      await client.send(operation('{ __typename }', 'Accept: text/event-stream\r\n'));
      await atAnyMoment(client);
    },
  },
  {
    name: 'event stream',
    reach: async (client, batch) => {
      await client.send(operation(followQuery, `${auth(batch)}Accept: text/event-stream\r\n`));
      await client.received('text/event-stream');
    },
  },
  rejected('CONNECT', 'CONNECT a:1 HTTP/1.1\r\n\r\n', 405),
  rejected('handshake from a foreign origin', upgrade('Origin: https://evil.example\r\n'), 403),
];

/** The stages of TLS. */
export const tlsStages: readonly Stage[] = [
  {
    name: 'handshake of TLS',
    reach: async (client) => {
      await client.sendRaw('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03');
      await atAnyMoment(client);
    },
  },
  ...httpStages,
];

/** The stages at the metrics port. */
export const metricsStages: readonly Stage[] = [
  ...beginnings('/metrics'),
  incomplete('body', '/metrics', `POST /metrics HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\n{`),
  {
    name: 'executing',
    reach: async (client) => {
      await client.send(get('/metrics'));
      await atAnyMoment(client);
    },
  },
  {
    name: 'response',
    reach: async (client) => {
      await client.send(get('/metrics').repeat(20));
      await client.received('HTTP/1.1 200');
      client.pause();
    },
  },
  {
    name: 'CONNECT',
    reach: async (client) => {
      await client.send('CONNECT a:1 HTTP/1.1\r\n\r\n');
      await atAnyMoment(client);
    },
  },
  rejected('upgrade', upgrade(), 404),
];

/** A text frame of a client, with a mask of zeros. */
function frame(text: string, opcode = 0x1): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(8);
  header.writeUInt8(0x80 | opcode, 0);
  header.writeUInt8(0x80 | 126, 1);
  header.writeUInt16BE(payload.length, 2);
  if (payload.length >= 126) return Buffer.concat([header, payload]);
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

const message = (content: object) => frame(JSON.stringify(content));
const subscribe = (id: string, query: string) => message({ id, type: 'subscribe', payload: { query } });
const complete = (id: string) => message({ id, type: 'complete' });

async function open(client: Client, batch: Batch): Promise<void> {
  await client.send(upgrade(auth(batch)));
  await client.received('HTTP/1.1 101');
}

async function initialize(client: Client, batch: Batch): Promise<void> {
  await open(client, batch);
  await client.send(message({ type: 'connection_init' }));
  await client.received('connection_ack');
}

/** The stages of a WebSocket. */
export const webSocketStages: readonly Stage[] = [
  incomplete('headers of the handshake', '/health', upgrade().slice(0, -2)),
  {
    name: 'handshake',
    reach: async (client, batch) => {
      await client.send(upgrade(auth(batch)));
      await atAnyMoment(client);
    },
  },
  {
    name: 'handshake behind another request',
    reach: async (client, batch) => {
      await client.send(get('/svc/org/keys/acme-billing', auth(batch)) + upgrade(auth(batch)));
      await atAnyMoment(client);
    },
  },
  {
    name: 'handshake queued',
    reach: async (client, batch) => {
      // Every second client sends the requests behind which the handshakes of the others wait.
      await client.send(
        client.index % 2 === 0 ? get('/svc/org/keys/acme-billing', auth(batch)).repeat(20) : upgrade(auth(batch)),
      );
      await batch.firstResponse;
    },
  },
  { name: 'established', reach: open },
  { name: 'initialized', reach: initialize },
  {
    name: 'executing',
    reach: async (client, batch) => {
      await initialize(client, batch);
      await client.send(subscribe('1', '{ orgKeys(first: 3) { nodes { keyID } } }'));
      await atAnyMoment(client);
    },
  },
  {
    name: 'subscribed',
    reach: async (client, batch) => {
      await initialize(client, batch);
      await client.send(Buffer.concat([subscribe('1', followQuery), subscribe('2', '{ __typename }')]));
      await client.received('"complete"');
    },
  },
  {
    name: 'cancelled',
    reach: async (client, batch) => {
      await initialize(client, batch);
      const cancelled = [followQuery, '{ __typename }'].map((query, id) =>
        Buffer.concat([subscribe(String(id), query), complete(String(id))]),
      );
      await client.send(Buffer.concat([...cancelled, message({ type: 'ping' })]));
      if (client.index % 2 === 0) await atAnyMoment(client);
      else await client.received('"pong"');
    },
  },
  {
    name: 'closing by the client',
    reach: async (client, batch) => {
      await initialize(client, batch);
      await client.send(Buffer.concat([subscribe('1', followQuery), frame('\x03\xe8', 0x8)]));
    },
  },
  {
    name: 'closing by the server',
    reach: async (client, batch) => {
      await initialize(client, batch);
      await client.send(Buffer.concat([subscribe('1', followQuery), frame('nonsense')]));
      // The frame of its close, which this client does not confirm.
      await client.received('\x88');
    },
  },
];
