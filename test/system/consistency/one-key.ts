import { createRandom } from '../../support/generated.js';
import type { TestResponse, TestApp } from '../../support/app.js';
import type { Operation, Specification } from './linearizability.js';

/** What can be seen of a key. */
export interface Seen {
  readonly version: number;
  readonly alias: string;
  readonly used: number;
  readonly max: number;
}

export type Input =
  | { readonly kind: 'read' }
  | { readonly kind: 'consume'; readonly amount: number }
  | {
      readonly kind: 'update';
      readonly alias: string;
      readonly max: number;
      readonly expectedVersion?: number | undefined;
      readonly isReset: boolean;
    };

/** A response, with as much of the key as it showed. */
export interface Output {
  readonly response: 'done' | 'rejected' | 'conflict';
  readonly seen: Partial<Seen>;
  /** Whether the key is changed, but its counter is reset only once Redis can be reached. */
  readonly isResetPending?: boolean;
}

export type History = Operation<Input, Output>[];

const first: Seen = { version: 1, alias: 'first', used: 0, max: 40 };

/** One key, one operation at a time. */
export const oneKey: Specification<Seen, Input, Output> = {
  initial: first,
  step(state, input, output) {
    const { response, next } = outcomeOf(state, input);
    if (output === undefined) return next;
    const isSeen = (Object.keys(output.seen) as (keyof Seen)[]).every((name) => output.seen[name] === next[name]);
    return output.response === response && isSeen ? next : undefined;
  },
};

function outcomeOf(state: Seen, input: Input): { response: Output['response']; next: Seen } {
  if (input.kind === 'read') return { response: 'done', next: state };
  if (input.kind === 'consume') {
    const used = state.used + input.amount;
    return used > state.max ? { response: 'rejected', next: state } : { response: 'done', next: { ...state, used } };
  }
  const { expectedVersion, alias, max, isReset } = input;
  if (expectedVersion !== undefined && expectedVersion !== state.version) return { response: 'conflict', next: state };
  return { response: 'done', next: { version: state.version + 1, alias, max, used: isReset ? 0 : state.used } };
}

/**
 * Lets eight clients loose on a new key, through both APIs of all the given apps, and records their requests and
 * results. The seed determines the requests, and their times as far as the machine permits.
 */
export async function record(
  apps: readonly TestApp[],
  seed: number,
  size: number,
  maxOf = (below: (limit: number) => number) => 20 + below(40),
): Promise<History> {
  const [app] = apps;
  if (!app) throw new Error('There is no app.');
  const keyID = `key-${seed}-${(keys += 1)}`;
  await app.importKeys({ key_id: keyID, org_id: 'acme', alias: first.alias, quota_max: first.max });
  const history: History = [];
  let time = 0;

  async function client(index: number): Promise<void> {
    const { below, pick } = createRandom(seed * 8 + index);
    let known = 1;
    for (let count = 0; count < size / 8; count += 1) {
      // Short pauses, such as lie between the steps of a request: longer ones would let each finish before the next begins.
      for (let pause = below(30); pause > 0; pause -= 1) await Promise.resolve();
      const input = inputFor(below, `${index}.${count}`, known, maxOf);
      const invoked = (time += 1);
      const output = await sendQuery(pick(apps), keyID, input, below(2) === 0);
      history.push({ input, output, invoked, responded: output ? (time += 1) : Infinity });
      known = output?.seen.version ?? known;
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, index) => client(index)));
  return history;
}

/** If the counter is stored without its key: a history with one maximum, which each of the two has to explain. */
export async function recordApart(
  apps: readonly TestApp[],
  seed: number,
  size: number,
): Promise<Record<string, History>> {
  const history = await record(apps, seed, size, () => first.max);
  const showing = (names: readonly (keyof Seen)[], isOf: (input: Input) => boolean) =>
    history
      .filter(({ input }) => isOf(input))
      .map((operation) => ({ ...operation, output: operation.output && only(operation.output, names) }));
  return {
    definition: showing(['version', 'alias'], ({ kind }) => kind !== 'consume'),
    counter: showing(['used'], () => true).map((operation) => {
      const { input, output } = operation;
      if (input.kind !== 'update' || !output) return operation;
      if (output.isResetPending) return { ...operation, output: undefined, responded: Infinity };
      // What an update shows of the counter is read after it, when others may have counted.
      return { ...operation, output: only(output, []) };
    }),
  };
}

function only({ seen, ...rest }: Output, names: readonly (keyof Seen)[]): Output {
  return { ...rest, seen: Object.fromEntries(names.flatMap((name) => (name in seen ? [[name, seen[name]]] : []))) };
}

/** The counter alone: conflicts of updates are not checked, and their results are accepted. */
export const oneCounter: Specification<{ readonly used: number }, Input, Output> = {
  initial: { used: 0 },
  step({ used }, input, output) {
    if (input.kind === 'update') return { used: output?.response !== 'conflict' && input.isReset ? 0 : used };
    const { response, next } = outcomeOf({ ...first, used }, input);
    if (output === undefined) return { used: next.used };
    return output.response === response && (output.seen.used ?? next.used) === next.used
      ? { used: next.used }
      : undefined;
  },
};

let keys = 0;

function inputFor(
  below: (limit: number) => number,
  alias: string,
  known: number,
  maxOf: (below: (limit: number) => number) => number,
): Input {
  const kind = below(10);
  if (kind < 3) return { kind: 'read' };
  if (kind < 7) return { kind: 'consume', amount: 1 + below(5) };
  return {
    kind: 'update',
    alias,
    max: maxOf(below),
    isReset: below(2) === 0,
    expectedVersion: below(2) === 0 ? known : undefined,
  };
}

/** Undefined where the response leaves open whether anything was done. */
async function sendQuery(app: TestApp, keyID: string, input: Input, isREST: boolean): Promise<Output | undefined> {
  const response = isREST ? await requestREST(app, keyID, input) : await requestGraphQL(app, keyID, input);
  const code = codeOf(response);
  if (response.status >= 500 || code === 'UNAVAILABLE' || code === 'INTERNAL') return undefined;
  if (response.status === 412 || code === 'CONFLICT') {
    const version = / version (\d+) by now/.exec(response.text)?.[1];
    return { response: 'conflict', seen: version === undefined ? {} : { version: Number(version) } };
  }
  if (response.status !== 200 || code !== undefined) throw new Error(`Unforeseen: ${response.status} ${response.text}`);
  const etag = response.headers.get('etag');
  const body: Record<string, unknown> = {
    ...membersOf(response.body),
    ...(etag !== null && { version: Number(etag.replaceAll('"', '')) }),
  };
  return {
    response: body['allowed'] === false ? 'rejected' : 'done',
    isResetPending: response.headers.get('quota-reset') === 'pending' || body['quotaReset'] === 'PENDING',
    seen: Object.fromEntries(
      (['version', 'alias', 'used', 'max'] as const).flatMap((name) => (name in body ? [[name, body[name]]] : [])),
    ),
  };
}

const shown = 'version definition { alias } quota { used max }';

async function requestGraphQL(app: TestApp, keyID: string, input: Input): Promise<TestResponse> {
  if (input.kind === 'read')
    return app.graphql(`query ($keyID: ID!) { orgKey(by: { keyID: $keyID }) { ${shown} } }`, { keyID });
  if (input.kind === 'consume') {
    const { amount } = input;
    return app.graphql(
      `mutation ($keyID: ID!, $amount: Int64!) { consumeOrgQuota(keyID: $keyID, amount: $amount) { allowed quota { used max } } }`,
      { keyID, amount },
    );
  }
  const { alias, max: quotaMax, isReset, expectedVersion } = input;
  return app.graphql(
    `mutation ($keyID: ID!, $input: UpdateKeyInput!, $isReset: Boolean!, $expectedVersion: Int) {
      updateOrgKey(keyID: $keyID, input: $input, resetQuota: $isReset, expectedVersion: $expectedVersion) { orgKey { ${shown} } quotaReset }
    }`,
    { keyID, input: { alias, quotaMax }, isReset, expectedVersion },
  );
}

async function requestREST(app: TestApp, keyID: string, input: Input): Promise<TestResponse> {
  const headers = { 'content-type': 'application/json', 'x-svc-authorization': app.service };
  const path = `/svc/org/keys/${keyID}`;
  if (input.kind === 'read') return app.send(path, { headers });
  if (input.kind === 'consume') {
    return app.send(`${path}/quota`, { method: 'POST', headers, body: JSON.stringify({ amount: input.amount }) });
  }
  const { alias, max, isReset, expectedVersion } = input;
  const ifMatch = expectedVersion === undefined ? {} : { 'if-match': `"${expectedVersion}"` };
  return app.update(keyID, { alias, quota_max: max }, isReset ? '?reset_quota=1' : '', ifMatch);
}

function codeOf({ body }: TestResponse): string | undefined {
  const [error] = (body['errors'] ?? []) as { extensions?: { code?: string } }[];
  return error && (error.extensions?.code ?? 'INTERNAL');
}

/** The members of a response at any depth, by name; the maximum of a quota under one name for both APIs. */
function membersOf(value: object): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (typeof member === 'object' && member !== null && !Array.isArray(member))
      Object.assign(members, membersOf(member));
    else members[name === 'quota_max' ? 'max' : name] = typeof member === 'bigint' ? Number(member) : member;
  }
  return members;
}
