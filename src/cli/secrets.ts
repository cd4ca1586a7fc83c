import type { Config } from '../config/config.js';
import { addPendingKey, loadKeyRing, promotePendingKey, addKey, dropInactiveKeys } from '../crypto/key-ring.js';
import type { SealedRequest } from '../keys/proposals/proposal-store.js';
import { aadOfRequest } from '../storage/sql/proposal-requests.js';
import { aadFor, sealedSecretsOf } from '../keys/protect-secrets.js';
import type { StoredKey } from '../keys/key.js';
import type { ScannedKey } from '../keys/ports.js';
import { AppError, errorCodeOf } from '../lib/errors.js';
import { inPages } from '../lib/in-pages.js';
import { printable } from '../lib/text.js';
import type { Services } from '../storage/open-storage.js';
import type { RingReport } from '../storage/ring-reports.js';
import { resealWebhook, sealedValuesOf } from '../webhooks/manage.js';
import { withServices } from './client/open.js';
import { type CLICommand, type OptionValues } from './command.js';
import { confirm, notConfirmedExitCode, yesOption } from './input.js';
import type { IO } from './io.js';
import { cannotDecrypt, createDamagedKeyReport, damagedExitCode, damagedAdvice } from './keys/damaged.js';
import { jsonOption, printJSONResult, toJSONLine, createProgressLine, countOf } from './output.js';

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
  options: { json: jsonOption },
  examples: ['keyfront secrets status'],
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
async function requirePrimaryOnHosts({ ringReports }: Services, keyID: string): Promise<void> {
  const hosts = (await ringReports.active()).filter(({ primaryID }) => primaryID !== keyID);
  if (hosts.length > 0) throw hostsError(hosts, `do not use the key ${keyID} yet`);
}

/** @throws {Error} when services of several hosts share the database: a new key must not be used at once. */
async function requireOneHost({ ringReports }: Services): Promise<void> {
  const hosts = await ringReports.active();
  if (hosts.length < 2) return;
  throw new Error(
    `Several hosts share the database (${namesOf(hosts)}). Run \`keyfront secrets add\`, copy the key ring to each, and run \`keyfront secrets promote\`.`,
  );
}

/** The error of a command that a pending key blocks. */
function notPromoted(pendingID: string): Error {
  return new Error(`The key ${pendingID} was added and is not promoted. Run \`keyfront secrets promote\`.`);
}

function hostsError(hosts: readonly RingReport[], what: string): Error {
  return new Error(`These hosts ${what}: ${namesOf(hosts)}. Copy the key ring to them, and wait half a minute.`);
}

const namesOf = (hosts: readonly RingReport[]) => hosts.map(({ host }) => printable(host)).join(', ');

export const rotateKeyRingCommand: CLICommand = {
  name: 'secrets rotate',
  summary: 'Add a key to the key ring and re-encrypt all secrets with it',
  description:
    'Services may run meanwhile. The command may be interrupted and run again: it continues an incomplete rotation without adding another key.',
  options: { json: jsonOption },
  exitCodes: { 3: 'done, except for damaged rows, which are named; run it again after they are repaired or deleted' },
  examples: ['keyfront secrets rotate'],
  run: rotate,
};

async function rotate(io: IO, options: OptionValues): Promise<number> {
  return withServices(io, { access: 'write' }, async (services, { config }) => {
    await requireIntactWebhooks(services);
    const primaryID = await primaryKeyFor(services, config);
    const progress = createProgressLine(io, 'keys');
    const damaged = createDamagedKeyReport(io);
    const { keys: total } = await services.contents();
    let count = 0;
    for await (const page of inPages(services.store.all(), pageSize)) {
      // Concurrent changes share group commits.
      await Promise.all(page.map((scanned) => reseal(services, scanned, primaryID, damaged.skip)));
      count += page.length;
      progress.show(count, count / total);
    }
    const isCurrent = (sealed: Uint8Array) => services.sealer.keyIDOf(sealed) === primaryID;
    const { intact } = await services.webhooks.list();
    for (const { id } of intact) {
      await services.webhooks.change(id, (webhook) => resealWebhook(webhook, services.sealer, isCurrent));
    }
    for await (const page of services.proposals.allSealed()) {
      for (const request of page) {
        const again = resealed(services, request, primaryID);
        if (again) await services.proposals.reseal(request.id, request.sealed, again);
      }
    }
    // Rows without a secret, such as those of the history, still have signatures of the older key.
    progress.end();
    const signing = createProgressLine(io, 'rows signed');
    let rows = 0;
    const damagedRows = await services.signatures.renew(() => signing.show((rows += 1)));
    signing.end();
    const counts = { keys: count, damaged_rows: damagedRows, damaged_keys: damaged.count() };
    printJSONResult(io, options, { primary_id: primaryID, ...counts });
    if (damagedRows > 0 || damaged.count() > 0) {
      const skipped = skippedSummary(damagedRows, damaged.count());
      io.stderr(`Everything else is encrypted with the key ${primaryID}. ${skipped}\n`);
      return damagedExitCode;
    }
    await services.resealKeyRingCheck();
    io.stderr(
      `Everything is encrypted with the key ${primaryID}. Older keys stay in the key ring until \`keyfront secrets prune\`.\n`,
    );
    return 0;
  });
}

/** Returns the key of an incomplete rotation, otherwise adds a key: a retry must not add a second one. */
async function primaryKeyFor(services: Services, { keyRingFile }: Config): Promise<string> {
  const { primaryID, pendingID } = loadKeyRing(keyRingFile);
  if (pendingID !== undefined) throw notPromoted(pendingID);
  if (await services.isRotated(primaryID)) {
    await requireOneHost(services);
    return addKey(keyRingFile, services.now()).primaryID;
  }
  // A host with the older primary key would continue to sign rows with it.
  await requirePrimaryOnHosts(services, primaryID);
  return primaryID;
}

const pageSize = 100;

async function reseal(
  services: Services,
  { keyHash, key }: ScannedKey,
  primaryID: string,
  skip: (keyHash: string, reason?: string) => void,
): Promise<void> {
  if (!key) return skip(keyHash);
  try {
    await services.store.reseal(keyHash, (stored) => withPrimaryKey(services, stored, primaryID));
  } catch (error) {
    // UNAVAILABLE concerns all keys; an error of reading or decryption concerns this key only.
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    skip(keyHash, error instanceof AppError ? error.message : cannotDecrypt);
  }
}

function withPrimaryKey({ sealer }: Services, key: StoredKey, primaryID: string): StoredKey {
  const sealAgain = (sealed: Uint8Array, secret: 'keyID' | 'jwtSecret' | 'hmacString') => {
    if (sealer.keyIDOf(sealed) === primaryID) return sealed;
    const aad = aadFor(key.keyHash, secret);
    return sealer.seal(sealer.open(sealed, aad), aad);
  };
  const { jwtSecret, hmacString } = key.secrets;
  const retiring = key.identifiers?.retiring;
  return {
    ...key,
    ...(retiring && {
      identifiers: {
        ...key.identifiers,
        retiring: { ...retiring, sealedKeyID: sealAgain(retiring.sealedKeyID, 'keyID') },
      },
    }),
    sealedKeyID: sealAgain(key.sealedKeyID, 'keyID'),
    secrets: {
      ...key.secrets,
      jwtSecret: jwtSecret && sealAgain(jwtSecret, 'jwtSecret'),
      hmacString: hmacString && sealAgain(hmacString, 'hmacString'),
    },
  };
}

/** The request of a proposal, sealed under the primary key; undefined if it is, or if it cannot be opened. */
function resealed({ sealer }: Services, { id, sealed }: SealedRequest, primaryID: string): Uint8Array | undefined {
  try {
    const aad = aadOfRequest(id);
    return sealer.keyIDOf(sealed) === primaryID ? undefined : sealer.seal(sealer.open(sealed, aad), aad);
  } catch (error) {
    // `keyfront check` names it, and its proposal is never applied.
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    return undefined;
  }
}

export const pruneCommand: CLICommand = {
  name: 'secrets prune',
  summary: 'Remove unused keys from the key ring',
  description:
    'Run it a few minutes after `secrets rotate`, when all services have loaded the new key. Backups from before the rotation then need a copy of the older key ring.',
  options: { yes: yesOption, json: jsonOption },
  exitCodes: { 3: 'done, except for damaged rows, which are named' },
  examples: ['keyfront secrets prune'],
  run: prune,
};

async function prune(io: IO, options: OptionValues): Promise<number> {
  return withServices(io, { access: 'write' }, async (services, { config }) => {
    await requireIntactWebhooks(services);
    const { primaryID, pendingID, ids } = loadKeyRing(config.keyRingFile);
    if (pendingID !== undefined) throw notPromoted(pendingID);
    const removed = ids.filter((id) => id !== primaryID);
    const question = () =>
      `Remove the keys ${removed.join(', ')} from the key ring ${config.keyRingFile}? Backups from before the rotation then need a copy of this key ring.`;
    if (removed.length > 0 && !(await confirm(io, options, question))) return notConfirmedExitCode;
    await requirePrimaryOnHosts(services, primaryID);
    const damaged = createDamagedKeyReport(io);
    for await (const { keyHash, key } of services.store.all()) {
      if (!key) damaged.skip(keyHash);
      else if (needsOlderKey(services, key, primaryID, damaged.skip)) throw olderKeyInUse();
    }
    const { intact } = await services.webhooks.list();
    for (const webhook of intact) {
      if (sealedValuesOf(webhook).some(({ sealed }) => services.sealer.keyIDOf(sealed) !== primaryID)) {
        throw olderKeyInUse();
      }
    }
    for await (const page of services.proposals.allSealed()) {
      if (page.some((request) => resealed(services, request, primaryID) !== undefined)) throw olderKeyInUse();
    }
    const older = await services.signatures.older();
    if (older.hasValid) throw olderKeyInUse();
    // A rotation that was interrupted at its end, or skipped damaged rows, has not renewed the key check value.
    await services.resealKeyRingCheck();
    dropInactiveKeys(config.keyRingFile);
    const counts = { damaged_rows: older.damaged, damaged_keys: damaged.count() };
    printJSONResult(io, options, { primary_id: primaryID, removed, ...counts });
    io.stderr(`Removed older keys: ${removed.length}. The primary key is ${primaryID}.\n`);
    if (removed.length > 0) {
      io.stderr(
        `Backups from before the rotation need a copy of the key ring with ${removed.join(', ')}; this key ring does not restore them. Make a new backup.\n`,
      );
    }
    if (older.damaged === 0 && damaged.count() === 0) return 0;
    io.stderr(`${skippedSummary(older.damaged, damaged.count())}\n`);
    return damagedExitCode;
  });
}

function needsOlderKey(
  { sealer }: Services,
  key: StoredKey,
  primaryID: string,
  skip: (keyHash: string, reason: string) => void,
): boolean {
  const older = sealedSecretsOf(key).filter(({ sealed }) => sealer.keyIDOf(sealed) !== primaryID);
  try {
    for (const { sealed, aad } of older) sealer.open(sealed, aad);
    return older.length > 0;
  } catch {
    skip(key.keyHash, cannotDecrypt);
    return false;
  }
}

function olderKeyInUse(): Error {
  return new Error('An older key is still in use. Run `keyfront secrets rotate` first.');
}

/**
 * Checks the webhooks before the key ring changes. A damaged webhook can be removed by its ID, so that, unlike a key, none
 * is skipped.
 *
 * @throws {Error} if a webhook fails the integrity check
 */
async function requireIntactWebhooks({ webhooks }: Services): Promise<void> {
  const { damaged } = await webhooks.list();
  if (damaged.length === 0) return;
  throw new Error(
    `These webhooks fail the integrity check: ${damaged.join(', ')}. Remove each with \`keyfront webhooks remove ID\` first.`,
  );
}

/** Summary of the damaged rows and keys that a command skipped. */
function skippedSummary(rows: number, keys: number): string {
  return `${countOf(rows, 'damaged rows')} and ${countOf(keys, 'damaged keys')} were skipped. ${damagedAdvice}`;
}
