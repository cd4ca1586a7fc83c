import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { until } from '../support/until.js';
import { createClient, type Client, type Sent } from './kit/client.js';
import { keyfront } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys, type DataFolder, type FaultRun } from './kit/workspace.js';

/*
 * Kills the service while a key is rotated and rotations are canceled, and gateways ask by all of its identifiers. A rotation
 * whose outcome is unknown is repeated with its idempotency key.
 */

interface RotationRun extends FaultRun {
  readonly cycles: number;
  /** Settings of the service and of commands, such as the addresses of the servers of another configuration. */
  readonly env?: Readonly<Record<string, string>>;
}

const keyID = 'rotated-by-kills';
/** Fewer than the requests of a cycle, so that grants beyond the quota would show. */
const grantsPerCycle = 60;
const gateways = 6;

interface Answer {
  readonly results: readonly {
    readonly allowed: boolean;
    readonly code: string;
    readonly quota?: { readonly used: number };
  }[];
}

/** What the clients know about the key. */
interface Known {
  /** The identifiers that are accepted. The first one always is: rotations begin from it and are canceled. */
  accepted: readonly string[];
  /** The change that comes next, or again if its outcome is unknown. */
  next: 'rotate' | 'cancel-rotation';
  /** The version that the key has before it. */
  version: number;
  granted: number;
  answered: number;
  /** Requests without a response: they may be counted or not. */
  open: number;
}

/** Ends early where something is found. */
export async function killDuringRotations(run: RotationRun): Promise<Report> {
  const { main, workspace, seed, cycles, mutant, env = {} } = run;
  const report = startReport('kill -9 while a key is rotated', seed);
  const where = `FUZZ_SEED=${seed} KEY_ROTATION_KILLS=${cycles}`;
  const random = createRandom(seed);
  const quotaMax = cycles * grantsPerCycle;
  const folder = await workspace.fresh('key-rotation', env);
  const place = { KEYFRONT_DATA: folder.data, ...env };
  await importKeys(place, `${workspace.folder}/rotated.jsonl`, [
    { key_id: keyID, org_id: 'acme', quota_max: quotaMax },
  ]);
  const known: Known = { accepted: [keyID], next: 'rotate', version: 1, granted: 0, answered: 0, open: 0 };
  const found = (kind: 'lost' | 'invented' | 'wrong response', what: string) =>
    report.addFindings([{ kind, what }], where);
  let rotations = 0;
  let verified = 0;
  for (let cycle = 0; cycle < cycles && report.found() === 0; cycle += 1) {
    report.addCase();
    const service = launch({ main, data: folder.data, mutant, env });
    const client = createClient(await portOf(service));
    // The first request of a process takes long on a busy machine.
    await verify(client, folder, keyID, 0);
    const stop = { isOver: false };
    const enough = known.answered + gateways;
    const asking = Array.from({ length: gateways }, (_, index) =>
      askUntilOver({ client, folder, known, stop, pick: createRandom(seed + cycle * 100 + index).below, found }),
    );
    const changing = rotateUntilOver({ client, folder, known, stop, found });
    await wait(300 + random.below(700));
    // Also on a busy machine, a kill meets a service at work.
    await until(() => known.answered >= enough, 'An answer to each gateway');
    await killNow(service);
    stop.isOver = true;
    verified += (await Promise.all(asking)).reduce((sum, one) => sum + one, 0);
    rotations += await changing;
    client.close();
  }
  const service = launch({ main, data: folder.data, mutant, env });
  const client = createClient(await portOf(service));
  const last = await rotateUntilOver({ client, folder, known, stop: { isOver: true }, found });
  const used = usedOf(await verify(client, folder, keyID, 0));
  client.close();
  await killNow(service);
  if (used === undefined || used < Math.min(known.granted, quotaMax))
    found('lost', `${used} of ${known.granted} are counted`);
  else if (used > known.granted + known.open)
    found('invented', `${used} are counted, and ${known.granted} were granted`);
  if (known.granted > quotaMax) found('invented', `${known.granted} were granted of ${quotaMax}`);
  const { code, out, stderr } = await keyfront(place, 'check');
  if (code !== 0) found('lost', `check ended with ${code}: ${out}${stderr}`);
  return {
    ...report.end({ rotations: rotations + last, verified, granted: known.granted, open: known.open }),
    acknowledged: verified,
  };
}

interface Asking {
  readonly client: Client;
  readonly folder: DataFolder;
  readonly known: Known;
  readonly stop: { isOver: boolean };
  readonly found: (kind: 'wrong response', what: string) => void;
}

/** Verifies by the identifiers that are accepted. Resolves to the number of responses. */
async function askUntilOver({
  client,
  folder,
  known,
  stop,
  pick,
  found,
}: Asking & { pick: (limit: number) => number }) {
  let count = 0;
  while (!stop.isOver) {
    const { accepted } = known;
    const index = pick(accepted.length);
    const sent = await verify(client, folder, accepted[index] ?? keyID, 1);
    if (sent === 'unreached') break;
    if (sent === 'no response' || sent.status !== 200) {
      known.open += 1;
      if (sent === 'no response') break;
      continue;
    }
    const [result] = (JSON.parse(sent.text) as Answer).results;
    count += 1;
    known.answered += 1;
    if (result?.allowed) known.granted += 1;
    const isExpected = result?.code === 'VALID' || result?.code === 'QUOTA_EXCEEDED';
    // A cancellation that was sent meanwhile makes the new identifier invalid at some moment.
    const isAccepted = index === 0 || accepted === known.accepted;
    if (!isExpected && isAccepted) found('wrong response', `an accepted identifier has the decision ${result?.code}`);
  }
  return count;
}

/** Rotates and cancels until the service is killed; once if `stop` is over. Resolves to the number of rotations. */
async function rotateUntilOver({ client, folder, known, stop, found }: Asking) {
  // The same request whenever it is sent for this version.
  const send = async (): Promise<Sent> => {
    const headers = { 'x-svc-authorization': folder.service, 'idempotency-key': `for-version-${known.version}` };
    const sent = await client.send(
      'POST',
      `/svc/org/keys/${keyID}/${known.next}`,
      headers,
      known.next === 'rotate' ? '{"overlap":86400}' : '',
    );
    return typeof sent !== 'string' && sent.status >= 500 ? 'no response' : sent;
  };
  let rotations = 0;
  do {
    known.accepted = [keyID];
    const sent = await send();
    if (typeof sent === 'string') return rotations;
    if (sent.status !== 200) {
      found('wrong response', `${known.next} has the status ${sent.status}: ${sent.text}`);
      return rotations;
    }
    const again = await send();
    if (typeof again !== 'string' && again.text !== sent.text)
      found('wrong response', 'a repetition has another result');
    if (known.next === 'rotate') {
      known.accepted = [keyID, (JSON.parse(sent.text) as { key: string }).key];
      rotations += 1;
      await wait(10);
    }
    known.next = known.next === 'rotate' ? 'cancel-rotation' : 'rotate';
    known.version += 1;
  } while (!stop.isOver);
  return rotations;
}

async function verify(client: Client, { service }: DataFolder, id: string, amount: number): Promise<Sent> {
  const body = JSON.stringify({ requests: [{ key_id: id, amount }] });
  return client.send('POST', '/svc/keys/verify', { 'x-svc-authorization': service }, body);
}

function usedOf(sent: Sent): number | undefined {
  if (typeof sent === 'string' || sent.status !== 200) return undefined;
  return (JSON.parse(sent.text) as Answer).results[0]?.quota?.used;
}
