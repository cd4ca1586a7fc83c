import type { Client, Reply, Sent } from './client.js';
import type { Entry, Operation } from './ledger.js';
import type { DataFolder } from './workspace.js';

const mutations = {
  update: `mutation ($keyID: ID!, $input: UpdateKeyInput!, $expectedVersion: Int) {
    done: updateOrgKey(keyID: $keyID, input: $input, expectedVersion: $expectedVersion) { version } }`,
  create: `mutation ($keyID: ID!, $input: CreateKeyInput!) { done: createOrgKey(keyID: $keyID, input: $input) { version } }`,
  consume: `mutation ($keyID: ID!, $amount: Int64!) { done: consumeOrgQuota(keyID: $keyID, amount: $amount) { allowed } }`,
};

/** Sends an operation over HTTP and returns how a client may interpret the result. */
export async function sendOperation(client: Client, { service }: DataFolder, operation: Operation): Promise<Entry> {
  const sent = performance.now();
  const headers = { 'x-svc-authorization': service };
  const reply = await (operation.api === 'rest' ? sendREST : sendGraphQL)(client, headers, operation);
  const outcome = typeof reply === 'string' ? outcomeWithoutReply(reply) : outcomeOfReply(operation, reply);
  return { ...operation, ...outcome, sent, completed: performance.now() };
}

function sendREST(client: Client, headers: Record<string, string>, operation: Operation): Promise<Sent> {
  const { kind, keyID, mark, amount, expectedVersion, isRepeatable = false } = operation;
  const path = `/svc/org/keys/${keyID}`;
  if (isRepeatable || isVerification(operation)) {
    const requests = [{ key_id: keyID, amount, ...(isRepeatable && { idempotency_key: mark }) }];
    return client.send('POST', '/svc/keys/verify', headers, JSON.stringify({ requests }));
  }
  if (kind === 'consume') return client.send('POST', `${path}/quota`, headers, JSON.stringify({ amount }));
  const body = { alias: mark, tags: [mark], hmac_string: mark, ...(kind === 'create' && { org_id: 'acme' }) };
  const ifMatch = expectedVersion === undefined ? undefined : { 'if-match': `"${expectedVersion}"` };
  return client.send(kind === 'create' ? 'POST' : 'PUT', path, { ...headers, ...ifMatch }, JSON.stringify(body));
}

/** Half of the consumption of a key without policies takes the way of a gateway that asks about a request. */
function isVerification({ kind, api, keyID, amount = 0 }: Operation): boolean {
  return kind === 'consume' && api === 'rest' && keyID === 'quota' && amount % 2 === 1;
}

function sendGraphQL(client: Client, headers: Record<string, string>, operation: Operation): Promise<Sent> {
  const { kind, keyID, mark, amount, expectedVersion } = operation;
  const input = { alias: mark, tags: [mark], hmacString: mark, ...(kind === 'create' && { orgID: 'acme' }) };
  const variables = kind === 'consume' ? { keyID, amount } : { keyID, input, expectedVersion };
  return client.send('POST', '/graphql', headers, JSON.stringify({ query: mutations[kind], variables }));
}

type ReplyOutcome = Pick<Entry, 'outcome' | 'version' | 'requestID' | 'response' | 'flaw'>;

/** Without a connection, the request was not sent. After a broken connection, its effect is unknown. */
function outcomeWithoutReply(what: 'unreached' | 'no response'): ReplyOutcome {
  return { outcome: what === 'unreached' ? 'rejected' : 'maybe', response: what };
}

interface Body {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly request_id?: unknown;
  readonly allowed?: unknown;
  readonly results?: readonly { readonly allowed?: unknown }[];
  readonly data?: { readonly done?: { readonly version?: unknown; readonly allowed?: unknown } } | null;
  readonly errors?: readonly {
    readonly message?: unknown;
    readonly extensions?: { readonly code?: unknown; readonly requestID?: unknown };
  }[];
}

/** Internal details, which no response may contain: positions in code, paths, messages of the database. */
const internalDetails = /node_modules|\bat .+:\d+:\d+|sqlite|\.db\b|disk I\/O/i;

function outcomeOfReply(operation: Operation, reply: Reply): ReplyOutcome {
  const requestID = String(reply.headers['x-request-id'] ?? '');
  const response = `${reply.status} ${reply.text.slice(0, 300)}`;
  const flaw = (what: string): ReplyOutcome => ({ outcome: 'maybe', requestID, response, flaw: what });
  const body = bodyOf(reply.text);
  if (body === undefined) return flaw('is no JSON object');
  if (internalDetails.test(reply.text)) return flaw('shows the internalDetails of the service');
  const code = operation.api === 'rest' ? restCode(reply, body) : graphqlCode(body);
  if (code === 'MALFORMED') return flaw('is not in the shape of an error');
  if (code !== undefined) {
    const isOpen = code === 'INTERNAL' || code === 'UNAVAILABLE';
    // These operations are valid, except for a stale version.
    const isStale = code === 'CONFLICT' && operation.expectedVersion !== undefined;
    return {
      outcome: isOpen ? 'maybe' : 'rejected',
      requestID,
      response,
      flaw: isOpen || isStale ? undefined : `rejects a valid request (${code})`,
    };
  }
  const { allowed } = (operation.api === 'rest' ? (body.results?.[0] ?? body) : body.data?.done) ?? {};
  if (operation.kind === 'consume') {
    if (allowed === true) return { outcome: 'ok', requestID, response };
    // The quota of these runs out.
    if (operation.isRepeatable === true && reply.text.includes('"code":"QUOTA_EXCEEDED"'))
      return { outcome: 'rejected', requestID, response };
    return flaw('does not allow what is left');
  }
  const tag = /^"(\d+)"$/.exec(String(reply.headers['etag']))?.[1];
  const version = Number(operation.api === 'rest' ? tag : body.data?.done?.version);
  if (!Number.isSafeInteger(version)) return flaw('names no version');
  const due = operation.expectedVersion === undefined ? version : operation.expectedVersion + 1;
  const isDue = version === due && (version === 1) === (operation.kind === 'create');
  return { outcome: 'ok', version, requestID, response, flaw: isDue ? undefined : `names version ${version}` };
}

function bodyOf(text: string): Body | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function restCode(reply: Reply, body: Body): string | undefined {
  if (reply.status >= 200 && reply.status < 300) return undefined;
  const isOurs = body.status === 'error' && typeof body.message === 'string' && typeof body.request_id === 'string';
  return isOurs && typeof body.code === 'string' ? body.code : 'MALFORMED';
}

function graphqlCode(body: Body): string | undefined {
  const [error] = body.errors ?? [];
  if (error === undefined) return body.data?.done ? undefined : 'MALFORMED';
  const { code, requestID } = error.extensions ?? {};
  return typeof code === 'string' && typeof requestID === 'string' ? code : 'MALFORMED';
}
