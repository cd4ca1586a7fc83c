import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.js';
import { stateOfProposal, type KnownProposal } from '../../src/keys/proposals/proposal.js';
import { openServices } from '../../src/storage/open-storage.js';
import type { EnginePlace } from '../support/engines.js';
import { hashOf } from '../support/factories.js';
import { createRandom } from '../support/generated.js';
import type { Process } from '../support/process.js';
import { until } from '../support/until.js';
import { createClient, type Client } from './kit/client.js';
import { outputOf } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys } from './kit/workspace.js';

/*
 * One service on a file, or two on one PostgreSQL database, that are killed while proposals are due, approved by two people
 * at once, and approved and withdrawn at once. Then each proposal must have ended once, and its key must have its change if
 * it was applied, once, and otherwise not. The seed decides which of two decisions comes first, and by how much.
 */

export interface ProposalRun {
  readonly main: string;
  readonly place: EnginePlace;
  readonly seed: number;
  readonly kills: number;
  readonly mutant?: string;
}

/** Keys of each kind, with one proposal each per kill. An organization has at most 100 proposals. */
const keysOfKind = 15;
const kinds = ['scheduled', 'approved', 'withdrawn'] as const;
const keyIDs = kinds.flatMap((kind) => Array.from({ length: keysOfKind }, (_, index) => `${kind}-${index}`));

/** How long the proposals of a cycle may take to end after the restart, on a busy machine. */
const endMs = 20_000;

interface Person {
  readonly label: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Made {
  readonly keyID: string;
  readonly id: string;
}

export async function killDuringProposals({ main, place, seed, kills, mutant }: ProposalRun): Promise<Report> {
  const report = startReport('kill -9 of a service around proposals', seed);
  const found = (kind: 'lost' | 'invented' | 'half', what: string) =>
    report.addFindings([{ kind, what }], `FUZZ_SEED=${seed} PROPOSAL_KILLS=${kills}`);
  const random = createRandom(seed);
  const keys = keyIDs.map((key_id) => ({ key_id, org_id: 'acme', alias: 'first' }));
  await importKeys(place.env, join(place.folder, 'keys.jsonl'), keys);
  const person = async (label: string, scopes: string): Promise<Person> => {
    const args = ['--kind', 'service', '--label', label, '--scopes', scopes];
    return { label, headers: { 'x-svc-authorization': await outputOf(place.env, 'credentials', 'issue', ...args) } };
  };
  const ann = await person('Ann', 'read,propose,approve');
  const [bob, cem] = [await person('Bob', 'read,approve'), await person('Cem', 'read,approve')];
  const eve = await person('Eve', 'read,propose,update');
  const start = () => launch({ main, data: place.folder, mutant, env: place.env });
  const services: Process[] = [start()];
  const made: Made[] = [];
  /** Those whose approval was confirmed. */
  const approved = new Set<string>();
  /** How approvals and withdrawals at once have ended, as confirmed to those who decided. */
  const races = { APPLIED: 0, WITHDRAWN: 0 };
  try {
    await portOf(services[0] ?? start());
    if (place.database) services.push(start());
    for (let kill = 0; kill < kills; kill += 1) {
      report.addCase();
      const clients = (await Promise.all(services.map(portOf))).map(createClient);
      const [first = createClient(0), second = first] = clients;
      const applyAt = new Date(Date.now() + 1_500 + random.below(500));
      const cycle: Made[] = [];
      for (const keyID of keyIDs) {
        const isScheduled = keyID.startsWith('scheduled');
        const at = isScheduled ? `, applyAt: "${applyAt.toISOString()}"` : '';
        const change = `change: { patch: { patch: { alias: "kill ${kill}" } } }`;
        const field = `proposeKeyChange(keyID: "${keyID}", ${change}${at}) { id }`;
        const response = await mutate<{ id: string }>(first, isScheduled ? eve : ann, field);
        if (response) cycle.push({ keyID, id: response.id });
        else if (Date.now() < applyAt.getTime()) found('lost', `${keyID}: was not proposed`);
      }
      made.push(...cycle);
      const decide = async (client: Client, who: Person, verb: string, { id }: Made) => {
        const response = await mutate<{ state: string }>(client, who, `${verb}KeyProposal(id: "${id}") { state }`);
        if (response?.state === 'APPLIED') {
          approved.add(id);
          if (who === ann) found('invented', `${id} was applied by its proposer alone`);
        }
        return response?.state;
      };
      const deciding = cycle
        .filter(({ keyID }) => !keyID.startsWith('scheduled'))
        .map((one) => ({ one, place: random.below(1_000_000) }))
        .toSorted((a, b) => a.place - b.place)
        .map(async ({ one }, index) => {
          const isRace = one.keyID.startsWith('withdrawn');
          const [soon, late] = [
            [0, 0, 3, 10],
            [0, 10, 40, 150, 600],
          ] as const;
          const decisions = [
            { decision: () => decide(first, ann, 'approve', one), laterMs: random.pick(soon) },
            { decision: () => decide(first, bob, 'approve', one), laterMs: random.pick(soon) },
            // A withdrawal needs less time than an approval.
            {
              decision: () => (isRace ? decide(second, ann, 'withdraw', one) : decide(second, cem, 'approve', one)),
              laterMs: random.pick(isRace ? late : soon),
            },
          ];
          await wait(Math.max(0, applyAt.getTime() - Date.now()) + index * 10);
          await Promise.all(
            decisions.map(async ({ decision, laterMs }) => {
              if (laterMs > 0) await wait(laterMs);
              const state = await decision();
              if (isRace && (state === 'APPLIED' || state === 'WITHDRAWN')) races[state] += 1;
            }),
          );
        });
      const ended = async () => Number((await endedIn(place))[0]?.count ?? 0);
      const before = await ended();
      const enough = before + 1 + random.below(25);
      await until(async () => (await ended()) >= enough, 'Proposals that have ended');
      await wait(random.below(300));
      const [killed] = services.splice(0, 1, start());
      if (killed) await killNow(killed);
      services.push(...services.splice(0, 1));
      await Promise.all(deciding);
      for (const client of clients) client.close();
      const [port] = await Promise.all(services.map(portOf));
      const client = createClient(port ?? 0);
      // Those whose approval had no response are decided again.
      for (const one of cycle) {
        if (one.keyID.startsWith('scheduled') || approved.has(one.id)) continue;
        await decide(client, bob, 'approve', one);
      }
      client.close();
      // One that has not ended by then never does: it is a finding below.
      for (const untilMs = Date.now() + endMs; (await unendedIn(place)).length > 0 && Date.now() < untilMs;)
        await wait(20);
    }
  } finally {
    await Promise.all(services.map(killNow));
  }
  const states = await readStates(place, made);
  const counts = new Map<string, number>();
  for (const { text } of await place.rows<{ text: string }>(
    'SELECT proposal AS text FROM history WHERE proposal IS NOT NULL',
  )) {
    const { id } = JSON.parse(text) as { id: string };
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const { id, keyID } of made) {
    const proposal = states.proposals.get(id);
    const state = proposal && stateOfProposal(proposal);
    const changes = counts.get(id) ?? 0;
    if (!proposal) found('lost', `${keyID}: the proposal ${id}`);
    if (changes > 1) found('invented', `${keyID}: ${changes} changes of ${id}`);
    if ((state === 'APPLIED') !== (changes === 1))
      found('half', `${keyID}: ${id} is ${state}, with ${changes} changes`);
    if (approved.has(id) && state !== 'APPLIED') found('lost', `${keyID}: the approval of ${id}`);
    if (keyID.startsWith('scheduled') && state !== 'APPLIED') found('lost', `${keyID}: ${id} is ${state}`);
    if (state === 'APPLIED' && proposal?.needsApproval === true) {
      const by = proposal.approval?.by?.label;
      if (by !== bob.label && by !== cem.label) found('invented', `${keyID}: ${id} was approved by ${by}`);
    }
  }
  for (const keyID of keyIDs) {
    const applied = made.filter((one) => one.keyID === keyID && counts.has(one.id)).length;
    const version = states.versions.get(keyID);
    if (version !== applied + 1) found('invented', `${keyID}: version ${version} after ${applied} changes`);
  }
  for (const problem of states.problems) found('half', problem);
  return { ...report.end({ withoutChange: made.length - counts.size, races }), acknowledged: counts.size };
}

/** Resolves to the first field of the response; undefined if it has errors, or there is none. */
async function mutate<T>(client: Client, { headers }: Person, field: string): Promise<T | undefined> {
  const sent = await client.send('POST', '/graphql', headers, JSON.stringify({ query: `mutation { ${field} }` }));
  if (typeof sent === 'string' || sent.status !== 200) return undefined;
  const { data } = JSON.parse(sent.text) as { data?: Record<string, T | null> | null };
  return Object.values(data ?? {})[0] ?? undefined;
}

const endedIn = ({ rows }: EnginePlace) =>
  rows<{ count: bigint | string }>('SELECT count(*) AS count FROM proposals WHERE ended IS NOT NULL');

const unendedIn = ({ rows }: EnginePlace) => rows<{ id: string }>('SELECT id FROM proposals WHERE ended IS NULL');

async function readStates({ env }: EnginePlace, made: readonly Made[]) {
  const { config, secrets } = readConfig(env);
  const services = await openServices(config, secrets);
  try {
    const proposals = new Map<string, KnownProposal>();
    for (const { id } of made) {
      const proposal = await services.proposals.find(id);
      if (proposal) proposals.set(id, proposal);
    }
    const versions = new Map<string, number | undefined>();
    for (const keyID of keyIDs) versions.set(keyID, (await services.store.find(hashOf(keyID)))?.version);
    return { proposals, versions, problems: await services.proposals.verify() };
  } finally {
    await services.close();
  }
}
