import { cp, rm } from 'node:fs/promises';
import { createClient, type Client } from './kit/client.js';
import { inspect } from './kit/inspect.js';
import { killNow, launch, portOf } from './kit/service.js';
import { dataOf, wrongResponse, type Scene, type Victim } from './victims.js';

const requests = 40;
/** The key of the template that has a quota. */
const keyID = 'quota';

interface Asked {
  readonly service: string;
  /** Requests that were answered before the kill. */
  answered: number;
}
const asked = new WeakMap<Scene, Asked>();

function askedOf(scene: Scene): Asked {
  const found = asked.get(scene);
  if (!found) throw new Error('The scene is not prepared.');
  return found;
}

/** Verifies one request. Returns the used count of the quota; undefined without an answer. */
async function verify(client: Client, service: string, more: object): Promise<number | undefined> {
  const body = JSON.stringify({ requests: [{ key_id: keyID, ...more }] });
  const sent = await client.send('POST', '/svc/keys/verify', { 'x-svc-authorization': service }, body);
  if (typeof sent === 'string' || sent.status !== 200) return undefined;
  const [result] = (JSON.parse(sent.text) as { results: { quota?: { used: number } }[] }).results;
  return result?.quota?.used;
}

const identified = (index: number) => ({ amount: 1, idempotency_key: `request-${index}` });

/** A service that verifies requests with identifiers. The gateway repeats all of them after the next start. */
export const verifyingVictim: Victim = {
  args: () => [],
  prepare: async (scene) => {
    const { data, service } = await scene.workspace.fresh(
      `${scene.folder.slice(scene.workspace.folder.length + 1)}/made`,
    );
    await cp(data, dataOf(scene), { recursive: true });
    await rm(data, { recursive: true });
    asked.set(scene, { service, answered: 0 });
  },
  use: async (scene, port) => {
    const client = createClient(port);
    const state = askedOf(scene);
    for (let index = 0; index < requests; index += 1) {
      if ((await verify(client, state.service, identified(index))) === undefined) break;
      state.answered += 1;
    }
    client.close();
  },
  judge: async (scene) => {
    const data = dataOf(scene);
    const { service, answered } = askedOf(scene);
    const findings = await inspect(data, []);
    const next = launch({ main: scene.main, data });
    const client = createClient(await portOf(next));
    const used = await verify(client, service, { amount: 0 });
    // One request can be counted whose answer was lost.
    if (used !== answered && used !== answered + 1)
      findings.push(wrongResponse(`${answered} requests were answered, and ${used} are counted`));
    for (const attempt of ['first', 'second']) {
      for (let index = 0; index < requests; index += 1) await verify(client, service, identified(index));
      const counted = await verify(client, service, { amount: 0 });
      if (counted !== requests)
        findings.push(wrongResponse(`after the ${attempt} repetition of ${requests} requests, ${counted} are counted`));
    }
    client.close();
    await killNow(next);
    return [...findings, ...(await inspect(data, []))];
  },
};
