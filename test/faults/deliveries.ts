import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sqlite, type EnginePlace } from '../support/engines.js';
import { makeFileGateway, type FileGatewayName } from '../support/file-gateways.js';
import { createRandom } from '../support/generated.js';
import { launchCommand, type Process } from '../support/process.js';
import { until } from '../support/until.js';
import { diskEnv } from './disk/library.js';
import { createClient, type Client } from './kit/client.js';
import { outputOf } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf, stopWithin } from './kit/service.js';
import { importKeys } from './kit/workspace.js';

/*
 * A service, `keyfront deliver file` and a gateway that admits the keys of its file, which are killed while keys are deleted
 * and restored. The file is whole at every moment, and each change arrives at the gateway.
 */

interface Run {
  readonly main: string;
  readonly mutant?: string;
}

const keyIDs = Array.from({ length: 200 }, (_, index) => `key-${index}`);
/** A key that is never changed. */
const constant = 'key-0';

/** What is wrong with the file of a gateway in which at most one key is missing; undefined if it is whole. */
function problemOf(text: string): string | undefined {
  const lines = text.split('\n');
  if (lines.pop() !== '') return 'its last line has no end';
  const odd = lines.find((line) => !/^(?:"key-\d+" "acme";|key-\d+ acme)$/.test(line));
  if (odd !== undefined) return `it has the line ${odd}`;
  return new Set(lines).size < keyIDs.length - 1 ? `it has ${lines.length} lines` : undefined;
}

/** A service with the keys, which can be killed and started again on its port, and changes to its keys. */
async function startScene(main: string, { folder, env }: EnginePlace) {
  const keys = keyIDs.map((key_id) => ({ key_id, org_id: 'acme' }));
  await importKeys(env, join(folder, 'keys.jsonl'), keys);
  const issue = (...args: readonly string[]) =>
    outputOf(env, 'credentials', 'issue', '--kind', 'service', '--label', 'faults', ...args);
  const [service, credential] = [await issue(), await issue('--scopes', 'read,deliver')];
  let port = 0;
  let running: Process;
  let client: Client;
  const begin = async () => {
    running = launch({ main, data: folder, env: { ...env, PORT: String(port) } });
    port = await portOf(running);
    client = createClient(port);
    return running;
  };
  const end = async () => {
    client.close();
    await killNow(running);
  };
  running = await begin();
  client = createClient(port);

  const statusOf = async (method: string, path: string) => {
    const sent = await client.send(method, path, { 'x-svc-authorization': service }, '{}');
    return typeof sent === 'string' ? undefined : sent.status;
  };
  return {
    end,
    restart: async () => {
      await end();
      await begin();
    },
    /** Deletes or restores a key, until the service says that it is so. */
    change: async (keyID: string, isDeletion: boolean) => {
      const path = `/svc/org/keys/${keyID}`;
      const expected = isDeletion ? 404 : 200;
      while ((await statusOf('GET', path)) !== expected) {
        await (isDeletion ? statusOf('DELETE', path) : statusOf('POST', `${path}/restore`));
        await wait(20);
      }
    },
    startAdapter: (build: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      launchCommand(process.execPath, [build, 'deliver', 'file', ...args, '--url', `http://127.0.0.1:${port}`], {
        cwd: folder,
        env: { KEYFRONT_SERVICE_CREDENTIAL: credential, ...more },
      }),
  };
}

export async function killDuringDeliveries({
  main,
  name,
  kills,
  seed,
}: Run & { readonly name: FileGatewayName; readonly kills: number; readonly seed: number }): Promise<Report> {
  const report = startReport(`kill -9 of a service, an adapter and ${name}`, seed);
  const found = (kind: 'half' | 'lost' | 'invented', what: string) =>
    report.addFindings([{ kind, what }], `FUZZ_SEED=${seed} DELIVERY_KILLS=${kills}`);
  const random = createRandom(seed);
  const place = await sqlite.make();
  const scene = await startScene(main, place);
  const gateway = await makeFileGateway(name, place.folder);
  const startAdapter = () =>
    scene.startAdapter(main, [...gateway.deliverArgs, '--gateway', 'edge'], { PATH: gateway.path });
  let adapter = startAdapter();
  let isOver = false;
  const counts = { arrived: 0, reads: 0, requests: 0, unanswered: 0 };

  /** Whether the gateway admits a key; undefined if it does not respond. */
  const admits = (keyID: string) =>
    gateway.admitted(keyID).then(
      (org) => org === 'acme',
      () => undefined,
    );

  async function work(): Promise<void> {
    while (!isOver) {
      const keyID = random.pick(keyIDs.slice(1));
      for (const isDeletion of [true, false]) {
        await scene.change(keyID, isDeletion);
        const what = `The ${isDeletion ? 'deletion' : 'restoration'} of ${keyID} at the gateway`;
        await until(async () => (await admits(keyID)) === !isDeletion, what);
        counts.arrived += 1;
      }
    }
  }

  /** Reads the file, and sends requests of a key that always exists and of one that never does. */
  async function watch(): Promise<void> {
    while (!isOver) {
      const problem = problemOf(readFileSync(gateway.map, 'utf8'));
      if (problem !== undefined) found('half', `The file: ${problem}`);
      counts.reads += 1;
      const [known, unknown] = [await admits(constant), await admits('unknown')];
      if (known === false) found('lost', `The gateway rejects ${constant}`);
      if (unknown === true) found('invented', 'The gateway admits an unknown key');
      counts.requests += 2;
      counts.unanswered += [known, unknown].filter((one) => one === undefined).length;
      await wait(1);
    }
  }

  const faults = {
    service: scene.restart,
    adapter: async () => {
      await killNow(adapter);
      adapter = startAdapter();
    },
    gateway: () => gateway.kill('main process').then(gateway.start),
    worker: () => gateway.kill('worker').then(gateway.start),
  };
  let working: Promise<unknown> = Promise.resolve();
  try {
    await until(() => existsSync(gateway.map), 'The first file');
    gateway.start();
    await until(async () => (await admits(constant)) === true, 'The start of the gateway');
    working = Promise.all([work(), watch()]);
    for (let kill = 0; kill < kills; kill += 1) {
      report.addCase();
      const before = counts.arrived;
      await Promise.race([until(() => counts.arrived > before, 'A change'), working]);
      await wait(random.below(2_500));
      await faults[(['service', 'adapter', 'gateway', 'worker'] as const)[kill % 4] ?? 'service']();
    }
    isOver = true;
    await working;
    const deleted = keyIDs.slice(1, 20);
    for (const keyID of deleted) await scene.change(keyID, true);
    await until(async () => (await admits(deleted.at(-1) ?? '')) === false, 'The last change');
    for (const keyID of keyIDs) {
      const isDeleted = deleted.includes(keyID);
      if ((await admits(keyID)) === isDeleted) found(isDeleted ? 'invented' : 'lost', `${keyID} at the end`);
    }
  } finally {
    isOver = true;
    await working.catch(() => undefined);
    await killNow(adapter);
    await Promise.all([scene.end(), gateway.remove()]);
    await place.remove();
  }
  return { ...report.end({ ...counts }), acknowledged: counts.arrived };
}

/** Kills the adapter at each call to the disk with which it replaces the file, and starts it again. */
export async function killAdapterAtEachCall({
  main,
  mutant,
  library,
}: Run & { readonly library: string }): Promise<Report> {
  const report = startReport('kill -9 of an adapter at each call to the disk', 0);
  const place = await sqlite.make();
  const scene = await startScene(main, place);
  const output = join(place.folder, 'output');
  const [file, template] = [join(output, 'keys.map'), join(place.folder, 'line.txt')];
  await mkdir(output);
  await writeFile(template, '{key} {org_id}\n');
  const keyID = keyIDs[1] ?? '';
  const content = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const has = (isPresent: boolean) => content() !== '' && content().includes(`${keyID} acme\n`) === isPresent;
  const startAdapter = (more?: Readonly<Record<string, string>>) =>
    scene.startAdapter(mutant ?? main, [file, '--template', template], more);

  /** Runs an adapter until the file has or does not have the key, and stops it. */
  const deliver = async (isPresent: boolean) => {
    const adapter = startAdapter();
    const ended = adapter.exited.then(() => true);
    try {
      await until(async () => has(isPresent) || (await Promise.race([ended, wait(1, false)])), 'The file');
      return has(isPresent) ? undefined : adapter.stderr();
    } finally {
      await stopWithin(adapter, 30_000);
    }
  };
  try {
    let isPresent = true;
    for (let at = 1, isKilled = true; isKilled; at += 1) {
      report.addCase();
      const where = `killed before call ${at}`;
      await deliver(isPresent);
      isPresent = !isPresent;
      await scene.change(keyID, !isPresent);
      const before = content();
      const adapter = startAdapter(diskEnv(library, output, { fault: { what: 'KILL', at } }));
      let isOver = false;
      const written = until(() => isOver || has(isPresent), 'The file').then(() => false);
      isKilled = await Promise.race([adapter.exited.then(({ signal }) => signal === 'SIGKILL'), written]);
      // The file has its name before the last calls.
      isKilled ||= await Promise.race([adapter.exited.then(({ signal }) => signal === 'SIGKILL'), wait(500, false)]);
      await killNow(adapter);
      const problem = content() === before ? undefined : problemOf(content());
      if (problem !== undefined) report.addFindings([{ kind: 'half', what: `The file: ${problem}` }], where);
      const failure = await deliver(isPresent);
      isOver = true;
      await written;
      if (failure !== undefined) report.addFindings([{ kind: 'lost', what: `The next start: ${failure}` }], where);
      if (failure !== undefined) break;
    }
  } finally {
    await scene.end();
    await place.remove();
  }
  return report.end();
}
