import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { EnginePlace } from '../support/engines.js';
import { createRandom } from '../support/generated.js';
import { launchCommand, type Process } from '../support/process.js';
import { until } from '../support/until.js';
import { createClient, type Client } from './kit/client.js';
import { outputOf } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys } from './kit/workspace.js';

/*
 * A service, and the adapter of a gateway that keeps a file current, which are killed in turn while keys are deleted and
 * restored. Whenever the service says that the gateway has a change, the file must have it.
 */

export interface ReceiptRun {
  readonly main: string;
  readonly place: EnginePlace;
  readonly seed: number;
  readonly kills: number;
  readonly mutant?: string;
}

const keyIDs = Array.from({ length: 200 }, (_, index) => `key-${index}`);
/** The changes that the gateway must have between two kills. */
const changesPerKill = 2;

const deployed = `query ($id: ID!) { orgKey(by: { keyID: $id }, includeDeleted: true) { version
  deployments(gateways: ["edge"]) { edges { node { isCurrent } } } } }`;

export async function killDuringReceipts({ main, place, seed, kills, mutant }: ReceiptRun): Promise<Report> {
  const report = startReport('kill -9 of a service and of an adapter that acknowledges', seed);
  const random = createRandom(seed);
  const { folder, env } = place;
  const file = join(folder, 'keys.json');
  await importKeys(
    env,
    join(folder, 'keys.jsonl'),
    keyIDs.map((key_id) => ({ key_id, org_id: 'acme' })),
  );
  const issue = (...args: readonly string[]) =>
    outputOf(env, 'credentials', 'issue', '--kind', 'service', '--label', 'faults', ...args);
  const service = await issue();
  const adapterCredential = await issue('--scopes', 'read,deliver');

  let port = 0;
  const startService = async () => {
    const started = launch({ main, data: folder, env: { ...env, PORT: String(port) } });
    port = await portOf(started);
    return started;
  };
  const startAdapter = () =>
    launchCommand(
      process.execPath,
      [mutant ?? main, 'deliver', 'file', file, '--gateway', 'edge', '--url', `http://127.0.0.1:${port}`],
      { cwd: folder, env: { KEYFRONT_SERVICE_CREDENTIAL: adapterCredential } },
    );
  let running: Process = await startService();
  let adapter: Process = startAdapter();
  let client: Client = createClient(port);
  let acknowledged = 0;
  let isOver = false;

  /** The data of a response; undefined if there was none. */
  const send = async (query: string, id: string) => {
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': service };
    const sent = await client.send('POST', '/graphql', headers, JSON.stringify({ query, variables: { id } }));
    if (typeof sent === 'string' || sent.status !== 200) return undefined;
    return (JSON.parse(sent.text) as { data?: Record<string, unknown> | null }).data ?? undefined;
  };
  const hasKey = (keyID: string) => existsSync(file) && readFileSync(file, 'utf8').includes(`"key":"${keyID}"`);

  /** Deletes or restores a key, until a response says so. */
  async function change(keyID: string, isDeletion: boolean): Promise<void> {
    const mutation = `mutation ($id: ID!) { ${isDeletion ? 'deleteOrgKey' : 'restoreOrgKey'}(keyID: $id) { version } }`;
    const state = 'query ($id: ID!) { orgKey(by: { keyID: $id }) { version } }';
    for (;;) {
      await send(mutation, keyID);
      const found = await send(state, keyID);
      if (found !== undefined && (found['orgKey'] === null) === isDeletion) return;
      await wait(20);
    }
  }

  async function work(): Promise<void> {
    while (!isOver) {
      const keyID = random.pick(keyIDs);
      for (const isDeletion of [true, false]) {
        await change(keyID, isDeletion);
        await until(async () => {
          const found = await send(deployed, keyID);
          const key = found?.['orgKey'] as { deployments: { edges: { node: { isCurrent: boolean } }[] } } | undefined;
          if (key?.deployments.edges[0]?.node.isCurrent !== true) return false;
          // The file never goes back: what it had at the time of the response, it has now.
          if (hasKey(keyID) === isDeletion) {
            const what = `${keyID} was ${isDeletion ? 'deleted' : 'restored'}, and is not so at the gateway`;
            report.addFindings([{ kind: 'invented', what }], `FUZZ_SEED=${seed} RECEIPT_KILLS=${kills}`);
          }
          acknowledged += 1;
          return true;
        }, 'An acknowledgement');
      }
    }
  }

  const working = work();
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      report.addCase();
      const before = acknowledged;
      await Promise.race([until(() => acknowledged >= before + changesPerKill, 'The changes'), working]);
      await wait(random.below(1_500));
      if (kill % 2 === 0) {
        await killNow(adapter);
        adapter = startAdapter();
      } else {
        await killNow(running);
        client.close();
        running = await startService();
        client = createClient(port);
      }
    }
    isOver = true;
    await working;
    const drift = await outputOf(env, 'drift', 'edge');
    if (!drift.includes('has all 200 keys')) {
      report.addFindings([{ kind: 'lost', what: drift }], `FUZZ_SEED=${seed} RECEIPT_KILLS=${kills}`);
    }
  } finally {
    isOver = true;
    client.close();
    await Promise.all([killNow(adapter), killNow(running)]);
    await working.catch(() => undefined);
  }
  return { ...report.end({ acknowledged }), acknowledged };
}
