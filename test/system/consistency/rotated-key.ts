import { retireIdentifiers } from '../../../src/keys/rotate.js';
import type { TestApp, TestResponse } from '../../support/app.js';
import { createRandom } from '../../support/generated.js';
import type { Operation, Specification } from './linearizability.js';

/** The identifiers of a key, as its clients know them. */
interface Identifiers {
  readonly version: number;
  readonly current: string;
  /** The identifier that is going to retire. */
  readonly old: string | null;
  /** Whether its time has come, and nobody has recorded it. */
  readonly isOver: boolean;
}

export type Input =
  | { readonly kind: 'verify' | 'consume'; readonly keyID: string; readonly amount: number }
  | { readonly kind: 'rotate' | 'cancel' | 'reset'; readonly keyID: string }
  /** The overlap of the present rotation ends. */
  | { readonly kind: 'pass' }
  /** Records retirements. */
  | { readonly kind: 'retire' };

export interface Output {
  readonly response: 'done' | 'rejected' | 'unknown' | 'conflict';
  readonly used?: number | undefined;
  readonly version?: number | undefined;
  /** The new identifier. */
  readonly keyID?: string | undefined;
}

export type History = Operation<Input, Output>[];

const max = 40;
const overlapSeconds = 60;

/** The result of an operation; `response` is undefined where the counter decides. */
interface Outcome<State> extends Omit<Output, 'response' | 'keyID'> {
  readonly response: Output['response'] | undefined;
  readonly next: State;
}

function outcomeForIdentifiers(state: Identifiers, input: Input, newID: string | undefined): Outcome<Identifiers> {
  const { version: before, current, old, isOver } = state;
  const version = before + 1;
  const running = isOver ? null : old;
  if (input.kind === 'pass') return { response: 'done', next: { ...state, isOver: old !== null } };
  if (input.kind === 'retire') {
    if (!isOver) return { response: 'rejected', next: state };
    return { response: 'done', next: { version, current, old: null, isOver: false } };
  }
  if (input.keyID !== current && input.keyID !== running) return { response: 'unknown', next: state };
  if (input.kind === 'verify' || input.kind === 'consume') return { response: undefined, next: state };
  if (input.kind === 'reset') return { response: 'done', version, next: { ...state, version } };
  if (input.kind === 'rotate') {
    if (running !== null) return { response: 'conflict', next: state };
    return { response: 'done', version, next: { version, current: newID ?? 'not known', old: current, isOver: false } };
  }
  if (running === null) return { response: 'conflict', next: state };
  return { response: 'done', version, next: { version, current: running, old: null, isOver: false } };
}

/** The counter after an operation by an accepted identifier. */
function outcomeForCounter(used: number, input: Input): Outcome<number> {
  if (input.kind === 'reset') return { response: 'done', next: 0 };
  if (input.kind !== 'verify' && input.kind !== 'consume') return { response: undefined, next: used };
  const next = used + input.amount;
  return next > max ? { response: 'rejected', used, next: used } : { response: 'done', used: next, next };
}

/** Whether a client can have seen this. */
function isSeen({ response, used, version }: Omit<Outcome<unknown>, 'next'>, output: Output | undefined): boolean {
  if (!output) return true;
  const isSame = (expected: number | undefined, seen: number | undefined) =>
    expected === undefined || seen === undefined || expected === seen;
  return (
    (response ?? output.response) === output.response && isSame(used, output.used) && isSame(version, output.version)
  );
}

type Rotations<State> = (first: string) => Specification<State, Input, Output>;

/** The identifiers alone, if the counter is not in the row of the key. */
export const identifiersOf: Rotations<Identifiers> = (first) => ({
  initial: { version: 1, current: first, old: null, isOver: false },
  step(state, input, output) {
    const { next, ...expected } = outcomeForIdentifiers(state, input, output?.keyID);
    // The counter decides whether a request is rejected, and no request by an accepted identifier is unknown.
    if (expected.response === undefined && output?.response === 'unknown') return undefined;
    return isSeen(expected, output) ? next : undefined;
  },
});

/** The counter alone. Requests by identifiers that are not accepted do not touch it. */
export const counterOf: Rotations<number> = () => ({
  initial: 0,
  step(used, input, output) {
    if (output?.response === 'unknown' || output?.response === 'conflict') return used;
    const { next, ...expected } = outcomeForCounter(used, input);
    return isSeen(expected, output) ? next : undefined;
  },
});

/** One key with two identifiers and one counter, one operation at a time. */
export const rotatedKey: Rotations<{ readonly identifiers: Identifiers; readonly used: number }> = (first) => {
  const { initial, step } = identifiersOf(first);
  return {
    initial: { identifiers: initial, used: 0 },
    step({ identifiers, used }, input, output) {
      const next = step(identifiers, input, output);
      const { response } = outcomeForIdentifiers(identifiers, input, output?.keyID);
      const isDone = response === undefined || response === 'done';
      const counted = isDone ? counterOf(first).step(used, input, output) : used;
      return next && counted !== undefined ? { identifiers: next, used: counted } : undefined;
    },
  };
};

const isChange = { rotate: true, cancel: true, reset: true };

let keys = 0;

interface RecordOptions {
  readonly seed: number;
  readonly size: number;
  /**
   * Whether the counter is not in the row of the key. Then a reset takes effect later, so that there is none, and requests read
   * the row before they count, so that none runs when the time changes.
   */
  readonly isCounterApart: boolean;
}

/**
 * Lets eight clients loose on a new key: they verify and consume by all identifiers that any of them has seen, rotate and
 * cancel, while overlaps end and retirements are recorded. Returns the first identifier and the history.
 */
export async function recordRotations(apps: readonly TestApp[], { seed, size, isCounterApart }: RecordOptions) {
  const [app] = apps;
  if (!app) throw new Error('There is no app.');
  // `retire` counts those of all keys.
  passTime(apps);
  await retireIdentifiers(app.app.services, () => undefined);
  const first = `rotated-${seed}-${(keys += 1)}`;
  await app.importKeys({ key_id: first, org_id: 'acme', quota_max: max });
  const known = [first];
  const history: History = [];
  const open = new Set<Promise<unknown>>();
  let time = 0;

  const changing = new Set<Promise<unknown>>();
  let passing: Promise<void> | undefined;

  /** Requests that began before may still use the earlier time: this ends when they have. */
  async function pass(): Promise<Output> {
    const began = [...open];
    passTime(apps);
    await Promise.allSettled(began);
    return { response: 'done' };
  }

  const hasOneTime = (kind: Input['kind']) => isCounterApart || kind in isChange;

  /** A change has one time, that of its beginning. So none runs when the time changes; other requests do. */
  async function turnOf(kind: Input['kind']): Promise<() => void> {
    while (passing) await passing;
    if (kind !== 'pass') return () => undefined;
    let end: () => void = () => undefined;
    passing = new Promise((resolve) => (end = resolve));
    await Promise.allSettled(changing);
    return () => {
      passing = undefined;
      end();
    };
  }

  function opened(input: Input, sent: Promise<unknown>): void {
    for (const all of hasOneTime(input.kind) ? [open, changing] : [open]) {
      all.add(sent);
      void sent.finally(() => all.delete(sent)).catch(() => undefined);
    }
  }

  async function client(index: number): Promise<void> {
    const { below, pick } = createRandom(seed * 8 + index);
    for (let count = 0; count < size / 8; count += 1) {
      for (let pause = below(30); pause > 0; pause -= 1) await Promise.resolve();
      // Mostly the newest identifiers; also the first, whose hash names the key.
      const keyID = pick(below(8) === 0 ? known : known.slice(-3));
      const input = inputFor(below, keyID, !isCounterApart);
      const isREST = below(2) === 0;
      const end = input.kind === 'pass' || hasOneTime(input.kind) ? await turnOf(input.kind) : undefined;
      const invoked = (time += 1);
      const sent = input.kind === 'pass' ? pass() : send(pick(apps), input, isREST);
      if (input.kind !== 'pass') opened(input, sent);
      end?.();
      const output = await sent;
      if (output?.keyID !== undefined) known.push(output.keyID);
      history.push({ input, output, invoked, responded: output ? (time += 1) : Infinity });
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, index) => client(index)));
  return { first, history };
}

function passTime(apps: readonly TestApp[]): void {
  for (const one of apps) one.clock.now = new Date(one.clock.now.getTime() + overlapSeconds * 1000);
}

function inputFor(below: (limit: number) => number, keyID: string, hasResets: boolean): Input {
  const kind = below(20);
  if (kind < 6) return { kind: 'verify', keyID, amount: 1 + below(3) };
  if (kind < 11) return { kind: 'consume', keyID, amount: 1 + below(3) };
  if (kind < 14) return { kind: 'rotate', keyID };
  if (kind < 16) return { kind: 'cancel', keyID };
  if (kind < 17) return { kind: 'pass' };
  if (kind < 18) return { kind: 'retire' };
  return hasResets ? { kind: 'reset', keyID } : { kind: 'verify', keyID, amount: 1 };
}

/** Undefined where the response leaves open whether anything was done. */
async function send(
  app: TestApp,
  input: Exclude<Input, { kind: 'pass' }>,
  isREST: boolean,
): Promise<Output | undefined> {
  if (input.kind === 'retire') {
    let isOpen = false;
    const retired = await retireIdentifiers(app.app.services, () => (isOpen = true));
    return isOpen ? undefined : { response: retired > 0 ? 'done' : 'rejected' };
  }
  const { keyID } = input;
  switch (input.kind) {
    case 'verify':
      return isREST ? verifyREST(app, input) : verified(app, input);
    case 'consume': {
      const { amount } = input;
      return outputOf(
        await app.graphql(
          `mutation ($keyID: ID!, $amount: Int64!) { done: consumeOrgQuota(keyID: $keyID, amount: $amount) { allowed quota { used } } }`,
          { keyID, amount },
        ),
      );
    }
    case 'rotate':
      return outputOf(
        await app.graphql(
          `mutation ($keyID: ID!) { done: rotateOrgKey(keyID: $keyID, overlap: ${overlapSeconds}) { keyID version } }`,
          { keyID },
        ),
      );
    case 'cancel':
      return outputOf(
        await app.graphql('mutation ($keyID: ID!) { done: cancelKeyRotation(keyID: $keyID) { version } }', { keyID }),
      );
    case 'reset':
      return outputOf(
        await app.graphql(
          'mutation ($keyID: ID!) { done: patchOrgKey(keyID: $keyID, patch: {}, resetQuota: true) { version } }',
          { keyID },
        ),
      );
  }
}

interface Done {
  readonly keyID?: string;
  readonly version?: number;
  readonly allowed?: boolean;
  readonly quota?: { readonly used: number | bigint } | null;
}

const usedOf = ({ quota }: Done) => (quota ? Number(quota.used) : undefined);

function outputOf({ status, body, text }: TestResponse): Output | undefined {
  const { errors: [error] = [], data } = body as {
    errors?: readonly { extensions?: { code?: string } }[];
    data?: { done?: Done | null } | null;
  };
  const code = error && (error.extensions?.code ?? 'INTERNAL');
  if (status >= 500 || code === 'UNAVAILABLE' || code === 'INTERNAL') return undefined;
  if (code === 'NOT_FOUND') return { response: 'unknown' };
  if (code === 'CONFLICT') return { response: 'conflict' };
  const done = data?.done;
  if (code !== undefined || !done) throw new Error(`Unforeseen: ${status} ${text}`);
  const { keyID, version, allowed } = done;
  return { response: allowed === false ? 'rejected' : 'done', used: usedOf(done), version, keyID };
}

interface Verified extends Done {
  readonly code: string;
}

async function verified(
  app: TestApp,
  { keyID, amount }: { keyID: string; amount: number },
): Promise<Output | undefined> {
  const { status, body, text } = await app.graphql(
    'mutation ($keyID: ID!, $amount: Int64!) { done: verifyKey(keyID: $keyID, amount: $amount) { code quota { used } } }',
    { keyID, amount },
  );
  return outputOfVerification(status, (body['data'] as { done?: Verified } | null)?.done, text);
}

async function verifyREST(app: TestApp, { keyID, amount }: { keyID: string; amount: number }) {
  const { status, body, text } = await app.send('/svc/keys/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-authorization': app.service },
    body: JSON.stringify({ requests: [{ key_id: keyID, amount }] }),
  });
  return outputOfVerification(status, (body['results'] as readonly Verified[] | undefined)?.[0], text);
}

function outputOfVerification(status: number, result: Verified | undefined, text: string): Output | undefined {
  if (status >= 500 || /"code":"(?:UNAVAILABLE|INTERNAL)"/.test(text)) return undefined;
  const response = ({ VALID: 'done', QUOTA_EXCEEDED: 'rejected', NOT_FOUND: 'unknown' } as const)[result?.code ?? ''];
  if (!result || !response) throw new Error(`Unforeseen: ${status} ${text}`);
  return { response, used: usedOf(result) };
}
