import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTHeaderParameters, type JWTPayload } from 'jose';

export interface Issuer {
  readonly url: string;
  /** The requested paths, in order. */
  readonly requested: string[];
  /** Makes a key; it is published under its name from now on. */
  addKey(kid: string, alg?: string): Promise<void>;
  removeKey(kid: string): void;
  /** Publishes a JWK as it is. */
  publish(jwk: object): void;
  /** A token signed by the key of that name, which need not be published. */
  sign(claims: JWTPayload, kid?: string, header?: Partial<JWTHeaderParameters>): Promise<string>;
  publicKey(kid: string): CryptoKey;
  /**
   * The effect of requests: a response, an error 500, a broken connection, no response, or headers and half a
   * body, or with a body that never ends.
   */
  mood: 'well' | 'failing' | 'gone' | 'silent' | 'stalling' | 'endless';
  /** The one path that is treated so; all when undefined. */
  moodPath: string | undefined;
  /** The content of the discovery document, if it differs from the default. */
  discovery: Record<string, unknown> | undefined;
  close(): Promise<void>;
}

interface Pair {
  readonly alg: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

/** An issuer of tokens on a port of its own, with one ES256 key named `first`. */
export async function startIssuer(): Promise<Issuer> {
  const pairs = new Map<string, Pair>();
  const published = new Set<string>();
  const unchecked: object[] = [];
  const server = createServer((request, response) => {
    issuer.requested.push(request.url ?? '');
    const mood = (issuer.moodPath ?? request.url) === request.url ? issuer.mood : 'well';
    if (mood === 'silent') return;
    if (mood === 'gone') return void request.socket.destroy();
    if (mood === 'stalling') return void response.writeHead(200, { 'content-length': 100 }).write('{"issuer":');
    if (mood === 'endless') {
      const more = () => void (response.destroyed || response.write(' '.repeat(10_000), () => setImmediate(more)));
      return more();
    }
    if (mood === 'failing') return void response.writeHead(500).end('out of order');
    void result(request.url ?? '').then((body) => {
      if (body === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function result(path: string): Promise<unknown> {
    if (path === '/.well-known/openid-configuration') {
      return issuer.discovery ?? { issuer: url, jwks_uri: `${url}/keys` };
    }
    if (path !== '/keys') return undefined;
    const keys = [...published].map(async (kid) => {
      const { alg, publicKey } = pairOf(kid);
      return { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    });
    return { keys: [...(await Promise.all(keys)), ...unchecked] };
  }

  function pairOf(kid: string): Pair {
    const pair = pairs.get(kid);
    if (!pair) throw new Error(`The issuer has no key ${kid}.`);
    return pair;
  }

  const issuer: Issuer = {
    url,
    requested: [],
    mood: 'well',
    moodPath: undefined,
    discovery: undefined,
    addKey: async (kid, alg = 'ES256') => {
      pairs.set(kid, { alg, ...(await generateKeyPair(alg, { extractable: true })) });
      published.add(kid);
    },
    removeKey: (kid) => void published.delete(kid),
    publish: (jwk) => void unchecked.push(jwk),
    sign: async (claims, kid = 'first', header = {}) => {
      const { alg, privateKey } = pairOf(kid);
      return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
    },
    publicKey: (kid) => pairOf(kid).publicKey,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await issuer.addKey('first');
  return issuer;
}
