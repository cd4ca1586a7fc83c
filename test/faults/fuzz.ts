import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { start, type Running } from '../support/process.js';
import { kill, printedBy } from '../support/processes.js';
import { importKeys } from './kit/workspace.js';
import { createInputs, type Canaries, type Input } from './fuzz-inputs.js';
import { createConnection, type RawResponse } from './raw-connection.js';

/*
 * Sends generated requests to the real process and verifies: no response of 500 or above, none later than a second, no
 * secret in a response or a log, no change of state without an acceptance, and the process alive to the end.
 */

export interface Service {
  readonly running: Running;
  readonly database: Database.Database;
  readonly management: string;
  readonly service: string;
  readonly keyIDs: readonly string[];
  stop(): Promise<void>;
}

/** Starts the built service on a data folder of its own with a few keys in it, logging all it can. */
export async function startService(main: string): Promise<Service> {
  const data = mkdtempSync(join(tmpdir(), 'keyfront-fuzz-'));
  const running = await start(main, data, [], { LOG_LEVEL: 'trace' });
  const keyIDs = ['one', 'two', 'guarded'].map((name) => `fuzzkey${name}${randomBytes(8).toString('hex')}`);
  const file = join(data, 'keys.jsonl');
  const keys = keyIDs.map((key_id) => ({ key_id, org_id: 'acme', quota_max: 10 }));
  await importKeys(data, file, keys);
  const database = new Database(join(data, 'keyfront.db'));
  return {
    running,
    database,
    ...printedBy(running),
    keyIDs,
    async stop() {
      database.close();
      await kill(running);
      rmSync(data, { recursive: true });
    },
  };
}

/** A fault that the run must find, so that the run proves itself. */
export interface StoreMutant {
  readonly response?: (response: RawResponse, number: number) => RawResponse;
  readonly beforeCheck?: (service: Service) => void;
  readonly log?: (canaries: Canaries) => string;
}

export interface Report {
  readonly seed: number;
  readonly inputs: number;
  readonly seconds: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly byKind: Readonly<Record<string, number>>;
  readonly updatesAccepted: number;
  readonly slowestMs: number;
  /** Problems, each with the number of its input. */
  readonly findings: readonly string[];
}

const connections = 8;
const inputsBetweenChecks = 1000;
const slowMs = 1000;
/** Enough that a busy machine does not delay all of them. */
const attemptsAlone = 20;
const timeoutMs = 10_000;
const maxFindings = 20;

/** Sends inputs number 0 to `inputs - 1` of the seed. */
export async function fuzz(service: Service, seed: number, inputs: number, mutant: StoreMutant = {}): Promise<Report> {
  const began = performance.now();
  const marker = (name: string) => `canary${name}${randomBytes(8).toString('hex')}`;
  const canaries: Canaries = {
    password: marker('password'),
    jwt: marker('jwt'),
    hmac: marker('hmac'),
    credential: marker('credential'),
    unknownKeyID: marker('keyid'),
  };
  const inputOf = createInputs(seed, { ...service, canaries });
  const findings: string[] = [];
  const found = (number: number, what: string) => {
    if (findings.length < maxFindings)
      findings.push(`input ${number} of seed ${seed} (${inputOf(number).kind}): ${what}`);
  };
  const byStatus: Record<string, number> = {};
  const byKind: Record<string, number> = {};
  const state = createStateCheck(service.database);
  const logFrom = service.running.stderr().length;
  const slow: number[] = [];
  let slowestMs = 0;
  const lines = Array.from({ length: connections }, () => createConnection(service.running.port, timeoutMs));

  async function sendOne(line: (typeof lines)[number], number: number): Promise<void> {
    const input = inputOf(number);
    const sent = await line.send(input);
    const response = mutant.response?.(sent, number) ?? sent;
    byStatus[response.status] = (byStatus[response.status] ?? 0) + 1;
    byKind[input.kind] = (byKind[input.kind] ?? 0) + 1;
    for (const what of problemsOf(input, response, canaries, service)) found(number, what);
    state.note(number, input, response);
    if (response.milliseconds > slowMs) slow.push(number);
    else slowestMs = Math.max(slowestMs, response.milliseconds);
  }

  /** Other load on this machine can delay a response. An input that blocks the service does so each time, and alone. */
  async function sendAlone(number: number): Promise<void> {
    const input = inputOf(number);
    const [line] = lines;
    if (!line) return;
    let fastestMs = Infinity;
    for (let attempt = 0; attempt < attemptsAlone && fastestMs > slowMs; attempt += 1) {
      const sent = await line.send(input);
      const response = mutant.response?.(sent, number) ?? sent;
      state.note(number, input, response);
      fastestMs = Math.min(fastestMs, response.milliseconds);
    }
    slowestMs = Math.max(slowestMs, fastestMs);
    if (fastestMs > slowMs) found(number, `a response after ${Math.round(fastestMs)} ms, each time`);
  }

  for (let from = 0; from < inputs && findings.length < maxFindings; from += inputsBetweenChecks) {
    const until = Math.min(inputs, from + inputsBetweenChecks);
    let next = from;
    await Promise.all(
      lines.map(async (line) => {
        while (next < until) await sendOne(line, next++);
      }),
    );
    for (const number of slow.splice(0)) await sendAlone(number);
    mutant.beforeCheck?.(service);
    for (const [number, what] of state.problems()) found(number ?? until - 1, what);
    const health = await fetch(`${service.running.url}/health`).catch(() => undefined);
    if (health?.status !== 200) {
      found(until - 1, 'the process does not respond any more');
      break;
    }
  }
  for (const line of lines) line.close();

  const log = service.running.stderr().slice(logFrom) + (mutant.log?.(canaries) ?? '');
  const hidden = { ...canaries, management: service.management, service: service.service, keyIDs: service.keyIDs };
  for (const [name, values] of Object.entries(hidden)) {
    if ([values].flat().some((value) => log.includes(value))) findings.push(`seed ${seed}: ${name} in the log`);
  }
  return {
    seed,
    inputs,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    byStatus,
    byKind,
    updatesAccepted: state.accepted(),
    slowestMs: Math.round(slowestMs),
    findings,
  };
}

function problemsOf(
  input: Input,
  response: RawResponse,
  canaries: Canaries,
  { management, service, keyIDs }: Service,
): string[] {
  const { status, text, headers } = response;
  const problems: string[] = [];
  if (status >= 500) problems.push(`status ${status}: ${text.slice(0, 200)}`);
  if (/"code":\s*"INTERNAL"/.test(text)) problems.push(`an internal error: ${text.slice(0, 200)}`);
  if (/json/.test(headers.get('content-type') ?? '') && input.method !== 'HEAD' && !isJSON(text)) {
    problems.push(`no JSON: ${text.slice(0, 200)}`);
  }
  const isAccepted = status === 200 && !text.includes('"errors":');
  // What was moved into another field by a mutation is no secret any more; and a name that was sent is in its path.
  const shown = isAccepted && !input.isIntact ? '' : text.replace(/"path":"(?:[^"\\]|\\.)*"/g, '');
  const isEcho = isAccepted && input.target.startsWith('/api/keys/preview');
  const secrets: Record<string, string> = {
    management,
    service,
    password: canaries.password,
    credential: canaries.credential,
    ...(!isEcho && { jwt: canaries.jwt, hmac: canaries.hmac }),
    ...(!isAccepted && Object.fromEntries([canaries.unknownKeyID, ...keyIDs].map((keyID) => [keyID, keyID]))),
  };
  for (const [name, value] of Object.entries(secrets)) {
    if (shown.includes(value)) problems.push(`the ${name} in the response: ${status} ${shown.slice(0, 300)}`);
  }
  return problems;
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Noted {
  readonly number: number;
  readonly isAccepted: boolean;
  readonly mustChange: boolean;
}

/** Compares the audit log, which names requests, with the responses: each change has its acceptance, and the reverse. */
function createStateCheck(database: Database.Database) {
  const trail = database.prepare<[number], { id: number; request_id: string }>(
    'SELECT id, request_id FROM history WHERE id > ? ORDER BY id',
  );
  const versions = database.prepare<[], { versions: number; keys: number }>(
    'SELECT sum(version) AS versions, count(*) AS keys FROM keys',
  );
  const summary = () => versions.get() ?? { versions: 0, keys: 0 };
  let lastID = trail.all(0).at(-1)?.id ?? 0;
  let before = summary();
  let noted = new Map<string, Noted>();
  let accepted = 0;

  return {
    accepted: () => accepted,
    note(number: number, input: Input, { status, headers, text }: RawResponse): void {
      const requestID = headers.get('x-request-id');
      if (requestID === undefined) return;
      const isREST = input.target.startsWith('/svc/org/keys/');
      // One document may hold several updates, of which the last fails and removes the others' results.
      const mayHoldMany = input.body.toString('latin1').split(/(?:update|patch)OrgKey/).length > 2;
      const isAccepted = isREST ? status === 200 : status === 200 && (/"data":\s*\{/.test(text) || mayHoldMany);
      // An update without a reset may repeat the stored definition, which changes nothing.
      const isReset = isREST && ['PUT', 'PATCH'].includes(input.method) && /[?&]reset_quota=1(&|$)/.test(input.target);
      noted.set(requestID, { number, isAccepted, mustChange: isReset && status === 200 });
    },
    *problems(): Generator<readonly [number: number | undefined, what: string]> {
      const rows = trail.all(lastID);
      const now = summary();
      if (now.versions - before.versions !== rows.length) {
        yield [
          undefined,
          `versions went up by ${now.versions - before.versions}, and ${rows.length} changes were remembered`,
        ];
      }
      if (now.keys !== before.keys) yield [undefined, `there are ${now.keys} keys, and there were ${before.keys}`];
      const changing = new Set(rows.map((row) => row.request_id));
      for (const requestID of changing) {
        const request = noted.get(requestID);
        if (!request?.isAccepted) yield [request?.number, 'a request that was rejected has changed a key'];
      }
      for (const [requestID, { number, mustChange }] of noted) {
        if (mustChange && !changing.has(requestID)) yield [number, 'a reset that was accepted has changed nothing'];
      }
      accepted += rows.length;
      lastID = rows.at(-1)?.id ?? lastID;
      before = now;
      noted = new Map();
    },
  };
}
