import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.js';
import { hashToken } from '../../src/credentials/token.js';
import { openServices } from '../../src/storage/open-storage.js';
import type { EnginePlace } from '../support/engines.js';
import { createRandom } from '../support/generated.js';
import { until } from '../support/until.js';
import { createClient, type Client } from './kit/client.js';
import { outputOf } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';

/*
 * A service that is killed while an administrator issues and rotates credentials by API. Then each credential that was
 * acknowledged must be there once, with the secret that was returned, and none that nobody has asked for. Each request to
 * issue is repeated with its idempotency key after the restart, and must find the same credential without its secret.
 */

export interface CredentialRun {
  readonly main: string;
  readonly place: EnginePlace;
  readonly seed: number;
  readonly kills: number;
}

/** Requests of a cycle, less than the credentials that an organization may have. */
const issuesOfCycle = 40;
const rotationsOfCycle = 10;

interface Issued {
  readonly credential: { readonly id: string; readonly label: string };
  readonly secret: string | null;
}

export async function killDuringIssue({ main, place, seed, kills }: CredentialRun): Promise<Report> {
  const report = startReport('kill -9 of a service that issues credentials', seed);
  const found = (kind: 'lost' | 'invented' | 'half', what: string) =>
    report.addFindings([{ kind, what }], `FUZZ_SEED=${seed} CREDENTIAL_KILLS=${kills}`);
  const random = createRandom(seed);
  const args = ['--kind', 'service', '--label', 'admin', '--scopes', 'admin,read'];
  const headers = { 'x-svc-authorization': await outputOf(place.env, 'credentials', 'issue', ...args) };
  const issue = (client: Client, label: string) => {
    const [cycle] = label.split('-');
    const field = `issueKeyCredential(label: "${label}", orgID: "${cycle}", scopes: [READ], idempotencyKey: "${label}")`;
    return mutate(client, headers, field);
  };
  const labels: string[] = [];
  let acknowledged = 0;
  /** The acknowledged credentials, by their labels. */
  const issued = new Map<string, Issued>();
  /** The acknowledged successors, by the identifiers of the credentials that they replace. */
  const successors = new Map<string, Issued>();
  let service = launch({ main, data: place.folder, env: place.env });
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      report.addCase();
      const client = createClient(await portOf(service));
      const rotated = [...issued.values()].slice(-rotationsOfCycle).map(({ credential }) => credential.id);
      const sent = Array.from({ length: issuesOfCycle }, (_, index) => `cycle${kill}-${index}`);
      labels.push(...sent);
      let answers = 0;
      let isSent = false;
      const sending = [
        ...rotated.map(async (id) => {
          const response = await mutate(client, headers, `rotateKeyCredential(id: "${id}", overlapHours: 1)`);
          if (response) successors.set(id, response);
        }),
        ...sent.map(async (label) => {
          const response = await issue(client, label);
          if (!response) return;
          answers += 1;
          issued.set(label, response);
          if (response.secret === null) found('half', `${label}: no secret for the first request`);
        }),
      ];
      const enough = 1 + random.below(issuesOfCycle / 2);
      void Promise.all(sending).then(() => {
        isSent = true;
      });
      // On a busy machine, the service may reject some with 503.
      await until(() => answers >= enough || isSent, 'Credentials that are issued');
      await wait(random.below(20));
      acknowledged += answers;
      await killNow(service);
      await Promise.all(sending);
      client.close();
      service = launch({ main, data: place.folder, env: place.env });
      const again = createClient(await portOf(service));
      for (const label of sent) {
        const before = issued.get(label);
        const response = await issue(again, label);
        if (!response) found('lost', `${label}: the repetition has failed`);
        else if (!before) issued.set(label, response);
        else if (response.credential.id !== before.credential.id) found('invented', `${label}: another credential`);
        else if (response.secret !== null) found('invented', `${label}: another secret`);
      }
      again.close();
    }
  } finally {
    await killNow(service);
  }
  const { config, secrets } = readConfig(place.env);
  const services = await openServices(config, secrets);
  try {
    const { credentials } = services;
    const stored = (await credentials.list()).filter(({ label }) => label.startsWith('cycle'));
    const byID = new Map(stored.map((one) => [one.id, one]));
    const replaced = new Set(stored.flatMap(({ successorID }) => successorID ?? []));
    /** Those that no other has replaced: one for each request. */
    const roots = stored.filter(({ id }) => !replaced.has(id));
    const check = async (what: string, { credential, secret }: Issued) => {
      if (!byID.has(credential.id)) found('lost', what);
      if (secret === null) return;
      const known = await credentials.findBySecretHash(hashToken(secret), new Date());
      if (known?.id !== credential.id || known.state !== 'active') found('half', `${what}: its secret is not accepted`);
    };
    for (const [label, one] of issued) await check(label, one);
    for (const [id, one] of successors) {
      await check(`the successor of ${id}`, one);
      if (byID.get(id)?.successorID !== one.credential.id) found('half', `${id} has another successor`);
    }
    for (const label of labels) {
      const count = roots.filter((one) => one.label === label).length;
      if (count !== 1) found(count === 0 ? 'lost' : 'invented', `${label}: ${count} credentials`);
    }
    for (const { id, label, successorID } of stored) {
      if (!labels.includes(label)) found('invented', `${id}, which nobody has asked for`);
      if (successorID !== undefined && !byID.has(successorID)) found('half', `${id} has a successor that is missing`);
    }
    for (const id of await credentials.findDamaged()) found('half', `${id} is damaged`);
    for (const { id } of await credentials.findRolledBack()) found('half', `${id} is not in its newest state`);
    return { ...report.end({ rotations: replaced.size, stored: stored.length }), acknowledged };
  } finally {
    await services.close();
  }
}

/** Resolves to what was issued; undefined without an answer, or with an error. */
async function mutate(
  client: Client,
  headers: Readonly<Record<string, string>>,
  field: string,
): Promise<Issued | undefined> {
  const query = `mutation { result: ${field} { credential { id label } secret } }`;
  const sent = await client.send('POST', '/graphql', headers, JSON.stringify({ query }));
  if (typeof sent === 'string' || sent.status !== 200) return undefined;
  const { data } = JSON.parse(sent.text) as { data?: { result: Issued | null } | null };
  return data?.result ?? undefined;
}
