import { addPendingKey, loadKeyRing, promotePendingKey } from '../../../crypto/key-ring.js';
import { printable } from '../../../lib/text.js';
import type { Services } from '../../../storage/open-storage.js';
import type { RingReport } from '../../../storage/ring-reports.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { storageVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { withServices } from '../../key-client/open.js';
import { jsonOption, printJSONResult } from '../../output/format.js';
import { toJSONLine } from '../../output/json.js';

/*
 * Rotation of a key ring of which each host has a copy. A key becomes primary when all hosts have it, and is removed
 * when no host uses it.
 */

export const addKeyCommand: CLICommand = {
  name: 'secrets add',
  summary: 'Add a key to the key ring that is not used yet',
  description:
    'The first step of a rotation on several hosts. Copy the key ring to every host, then run `secrets promote`. On one host, `secrets rotate` does all steps.',
  options: { json: jsonOption },
  exitCodes: { 1: 'a rotation is incomplete' },
  examples: ['keyfront secrets add'],
  environment: storageVariables,
  run: (io, options) =>
    withServices(io, { access: 'read' }, async (services, { config }) => {
      const { primaryID, pendingID } = loadKeyRing(config.keyRingFile);
      if (pendingID !== undefined) throw notPromoted(pendingID);
      if (!(await services.isRotated(primaryID))) {
        throw new Error(`The rotation to the key ${primaryID} is incomplete. Run \`keyfront secrets rotate\` first.`);
      }
      const ring = addPendingKey(config.keyRingFile, services.now());
      printJSONResult(io, options, { stage: 'added', pending_id: ring.pendingID });
      io.stderr(
        `Added the key ${ring.pendingID}. Copy ${config.keyRingFile} to every host, then run \`keyfront secrets promote\`.\n`,
      );
      return 0;
    }),
};

export const promoteKeyCommand: CLICommand = {
  name: 'secrets promote',
  summary: 'Encrypt and sign with the added key from now on',
  description:
    'Rejected while a host that shares the database does not have the key. Then copy the key ring to every host again, and run `secrets rotate`.',
  options: { json: jsonOption },
  exitCodes: { 1: 'no key was added, or a host does not have it' },
  examples: ['keyfront secrets promote'],
  environment: storageVariables,
  run: (io, options) =>
    withServices(io, { access: 'read' }, async (services, { config }) => {
      const { pendingID } = loadKeyRing(config.keyRingFile);
      if (pendingID === undefined) throw new Error('There is no added key. Run `keyfront secrets add` first.');
      await requireKeyOnHosts(services, pendingID);
      promotePendingKey(config.keyRingFile);
      printJSONResult(io, options, { stage: 'promoted', primary_id: pendingID });
      io.stderr(
        `The primary key is ${pendingID}. Copy ${config.keyRingFile} to every host, then run \`keyfront secrets rotate\`.\n`,
      );
      return 0;
    }),
};

export const secretsStatusCommand: CLICommand = {
  name: 'secrets status',
  summary: 'Show the stage of a rotation, and the key ring of each host',
  options: { json: { description: 'Print the stage and the hosts as JSON', isCommon: true } },
  examples: ['keyfront secrets status'],
  environment: storageVariables,
  run: showStatus,
};

async function showStatus(io: IO, { json: isJSON }: OptionValues): Promise<number> {
  return withServices(io, { access: 'read' }, async (services, { config }) => {
    const { primaryID, pendingID, ids } = loadKeyRing(config.keyRingFile);
    const isRotated = await services.isRotated(primaryID);
    const hosts = await services.ringReports.active();
    const [stage, next] = stageOf({ pendingID, isRotated, count: ids.length });
    if (isJSON === true) {
      io.stdout(
        `${toJSONLine({ stage, primary_id: primaryID, pending_id: pendingID, ids, hosts: hosts.map(hostToJSON) })}\n`,
      );
      return 0;
    }
    io.stdout(`Stage: ${stage}. ${next}\nThis key ring: ${ids.join(', ')}; primary ${primaryID}\n`);
    for (const { host, primaryID: primary, ids: known } of hosts) {
      io.stdout(`${printable(host)}: ${known.join(', ')}; primary ${primary}\n`);
    }
    return 0;
  });
}

const hostToJSON = ({ host, at, primaryID, ids }: RingReport) => ({
  host,
  at: at.toISOString(),
  primary_id: primaryID,
  ids,
});

function stageOf({
  pendingID,
  isRotated,
  count,
}: {
  pendingID: string | undefined;
  isRotated: boolean;
  count: number;
}): [stage: string, next: string] {
  if (pendingID !== undefined)
    return ['added', 'Copy the key ring to every host, then run `keyfront secrets promote`.'];
  if (!isRotated) return ['promoted', 'Copy the key ring to every host, then run `keyfront secrets rotate`.'];
  if (count > 1) return ['rotated', 'Run `keyfront secrets prune`, then copy the key ring to every host.'];
  return ['complete', 'The key ring has one key.'];
}

/** @throws {Error} when a host that shares the database does not have the key. */
async function requireKeyOnHosts({ ringReports }: Services, keyID: string): Promise<void> {
  const hosts = (await ringReports.active()).filter(({ ids }) => !ids.includes(keyID));
  if (hosts.length > 0) throw hostsError(hosts, `do not have the key ${keyID}`);
}

/** @throws {Error} when a host that shares the database encrypts with another key. */
export async function requirePrimaryOnHosts({ ringReports }: Services, keyID: string): Promise<void> {
  const hosts = (await ringReports.active()).filter(({ primaryID }) => primaryID !== keyID);
  if (hosts.length > 0) throw hostsError(hosts, `do not use the key ${keyID} yet`);
}

/** @throws {Error} when services of several hosts share the database: a new key must not be used at once. */
export async function requireOneHost({ ringReports }: Services): Promise<void> {
  const hosts = await ringReports.active();
  if (hosts.length < 2) return;
  throw new Error(
    `Several hosts share the database (${namesOf(hosts)}). Run \`keyfront secrets add\`, copy the key ring to each, and run \`keyfront secrets promote\`.`,
  );
}

/** The error of a command that a pending key blocks. */
export function notPromoted(pendingID: string): Error {
  return new Error(`The key ${pendingID} was added and is not promoted. Run \`keyfront secrets promote\`.`);
}

function hostsError(hosts: readonly RingReport[], what: string): Error {
  return new Error(`These hosts ${what}: ${namesOf(hosts)}. Copy the key ring to them, and wait half a minute.`);
}

const namesOf = (hosts: readonly RingReport[]) => hosts.map(({ host }) => printable(host)).join(', ');
