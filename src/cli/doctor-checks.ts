import { X509Certificate } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../config/config.js';
import { loadKeyRing } from '../crypto/key-ring.js';
import { readTLS, type TLSFiles } from '../http/server/tls.js';
import { errorCodeOf } from '../lib/errors.js';
import { fetchText, type FetchedText } from '../lib/fetch-text.js';
import { isOpenToOthers } from '../lib/file-mode.js';
import { isLoopback } from '../lib/loopback.js';
import { printable } from '../lib/text.js';
import type { Services } from '../storage/open-storage.js';
import { InstallationNotFoundError } from '../storage/storage.js';
import { rolledBackCredentials } from './check.js';
import { type ServiceAddress, explainConnectionError } from './client/connection.js';
import { damagedWebhookMessage } from './client/webhook-operations.js';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  /** What to do; absent if the status is `ok`. */
  readonly remedy?: string;
}

/** Checks the settings for combinations that are valid and insecure. */
export function checkSettings({ host, tls }: Config): Finding {
  const check = 'configuration';
  if (!tls && !isLoopback(host)) {
    const remedy = 'Terminate TLS in a proxy, or set KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY.';
    return {
      check,
      status: 'warning',
      message: `With the settings of this shell, a service uses plain HTTP on ${host}.`,
      remedy,
    };
  }
  return { check, status: 'ok', message: 'The settings of this shell are valid.' };
}

/** Names the profile of each running service. They report it to the database: their shells may have other settings. */
export async function checkRunning({ ringReports }: Services): Promise<Finding[]> {
  const check = 'service';
  const reports = await ringReports.active();
  if (reports.length === 0) {
    const message = 'No service has reported to this database for two minutes: none runs, or it cannot write.';
    return [{ check, status: 'warning', message, remedy: 'Start it with `keyfront serve`, or read its log.' }];
  }
  return reports.map(({ host, isProduction }) => {
    const profile = { true: 'production', false: 'development', undefined: 'an unknown profile' }[`${isProduction}`];
    return { check, status: 'ok', message: printable(`The service of ${host} runs in ${profile}.`) };
  });
}

const dayMs = 86_400_000;
const minCertificateMs = 14 * dayMs;

/** Checks that the TLS files match and that the certificate is not about to expire. */
export function checkTLS(files: TLSFiles, now: Date): Finding {
  const check = 'certificate';
  try {
    readTLS(files);
    const { validToDate } = new X509Certificate(readFileSync(files.certFile));
    const leftMs = validToDate.getTime() - now.getTime();
    const message = `The TLS certificate is valid until ${validToDate.toISOString()}.`;
    const remedy = `Replace ${files.certFile} and restart the service.`;
    if (leftMs <= 0) return { check, status: 'failed', message: `${message} It has expired.`, remedy };
    return leftMs < minCertificateMs ? { check, status: 'warning', message, remedy } : { check, status: 'ok', message };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The TLS files cannot be read.';
    return { check, status: 'failed', message, remedy: 'Correct KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY.' };
  }
}

/** Checks that no other user can read the files, and that this user can write to them. */
export function checkPermissions({ databaseFile, keyRingFile }: Config, usesFile: boolean): Finding[] {
  const check = 'permissions';
  const database = usesFile ? [dirname(databaseFile), databaseFile, `${databaseFile}-wal`, `${databaseFile}-shm`] : [];
  const paths = [...database, keyRingFile].filter((path) => existsSync(path));
  const findings = paths.flatMap((path): Finding[] => {
    const { mode } = statSync(path);
    if (isOpenToOthers(mode)) {
      const remedy = `Run: chmod ${statSync(path).isDirectory() ? '700' : '600'} ${path}`;
      return [{ check, status: 'failed', message: `${path} is open to other users.`, remedy }];
    }
    if (isWritable(path)) return [];
    const remedy = 'Run this command as the user of the service, or give the files to that user with chown.';
    return [{ check, status: 'failed', message: `This user cannot write to ${path}.`, remedy }];
  });
  if (findings.length > 0 || paths.length === 0) return findings;
  return [{ check, status: 'ok', message: 'Only this user can read and write the files.' }];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const maxSkewMs = 60_000;
/** A clock that is not set begins in 1970 or with the year of its firmware. */
const earliest = Date.parse('2025-01-01T00:00:00Z');

/** Checks the clock against the newest change: it is in the future if the clock was set back. */
export function checkClock(now: Date, newestChange: Date | undefined): Finding {
  const check = 'clock';
  const remedy = 'Synchronize the clock of the machine, for example with chrony or systemd-timesyncd.';
  const message = `The time is ${now.toISOString()}.`;
  if (now.getTime() < earliest) return { check, status: 'failed', message: `${message} It is not set.`, remedy };
  if (newestChange && newestChange.getTime() - now.getTime() > maxSkewMs) {
    const newest = `The newest change was made later, at ${newestChange.toISOString()}.`;
    return { check, status: 'failed', message: `${message} ${newest}`, remedy };
  }
  return { check, status: 'ok', message };
}

const mebibyte = 1024 * 1024;
const minFreeBytes = 100 * mebibyte;
const lowFreeBytes = 1024 * mebibyte;

/** Checks the space that is free on the disk of a folder. */
export async function checkDisk(folder: string, databaseBytes: number): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  return judgeDisk(folder, bavail * bsize, databaseBytes);
}

/** A full disk makes the service read-only. Maintenance and backups need as much space as the database has. */
export function judgeDisk(folder: string, freeBytes: number, databaseBytes: number): Finding {
  const check = 'disk';
  const message = `${Math.floor(freeBytes / mebibyte).toLocaleString('en')} MiB are free for ${folder}.`;
  const remedy = 'Free space on this disk, or move the data folder to a larger one.';
  if (freeBytes < minFreeBytes) return { check, status: 'failed', message, remedy };
  if (freeBytes < Math.max(lowFreeBytes, databaseBytes)) return { check, status: 'warning', message, remedy };
  return { check, status: 'ok', message };
}

const restoreRemedy = 'Run `keyfront check`, and restore a backup if it finds damage.';

/** Converts the error of opening the storage. The key ring is verified when the database is opened. */
export function findingOfOpening(error: unknown): Finding {
  const message = error instanceof Error ? error.message : 'The database cannot be opened.';
  if (error instanceof InstallationNotFoundError) {
    const remedy = 'Correct KEYFRONT_DATA or KEYFRONT_DATABASE_URL, or run `keyfront init`.';
    return { check: 'database', status: 'failed', message, remedy };
  }
  if (/key ring/.test(message)) {
    const remedy = 'Copy the key ring of this database from its backup, or correct KEYFRONT_KEY_RING.';
    return { check: 'key ring', status: 'failed', message, remedy };
  }
  return { check: 'database', status: 'failed', message, remedy: `Correct what the message names. ${restoreRemedy}` };
}

/** Checks that the database can be read. `check` verifies its content. */
export async function checkDatabase({ contents }: Services): Promise<Finding & { readonly newestChange?: Date }> {
  const { keys, newestChange } = await contents();
  const newest = newestChange ? `, the newest change is of ${newestChange.at.toISOString()}` : '';
  const message = `The database can be read; number of keys: ${keys}${newest}. \`keyfront check\` verifies its content.`;
  return { check: 'database', status: 'ok', message, ...(newestChange && { newestChange: newestChange.at }) };
}

/** Checks that no rotation of the key ring is incomplete. */
export async function checkKeyRing({ isRotated }: Services, keyRingFile: string): Promise<Finding> {
  const check = 'key ring';
  const { primaryID, ids } = loadKeyRing(keyRingFile);
  if (!(await isRotated(primaryID))) {
    const message = `A rotation to the key ${primaryID} is incomplete.`;
    return { check, status: 'warning', message, remedy: 'Run `keyfront secrets rotate` again.' };
  }
  return { check, status: 'ok', message: `The key ring belongs to the database; its keys are ${ids.join(', ')}.` };
}

const soonMs = 14 * 86_400_000;

/** Checks that there is a service credential, and that none expires soon. */
export async function checkCredentials(services: Services): Promise<Finding[]> {
  const { credentials, now } = services;
  const check = 'credentials';
  const problems = [
    ...(await credentials.findDamaged()).map((id) => `The credential ${id} fails the integrity check.`),
    ...(await rolledBackCredentials(services)),
  ];
  const damaged = problems.map((problem): Finding => ({
    check,
    status: 'failed',
    message: printable(problem),
    remedy: restoreRemedy,
  }));
  // The others cannot be listed beside a damaged one.
  if (damaged.length > 0) return damaged;
  const at = now();
  const active = (await credentials.list()).filter(
    ({ revoked, expires }) => !revoked && (expires === undefined || expires > at),
  );
  const expiring = active.flatMap(({ id, expires, successorID }): Finding[] => {
    if (expires === undefined || successorID !== undefined || expires.getTime() - at.getTime() > soonMs) return [];
    const message = `The credential ${id} expires at ${expires.toISOString()}.`;
    return [{ check, status: 'warning', message, remedy: `Run: keyfront credentials rotate ${id}` }];
  });
  const missing: Finding[] = active.some(({ kind }) => kind === 'service')
    ? []
    : [
        {
          check,
          status: 'warning',
          message: 'No service credential is valid.',
          remedy: 'Run: keyfront credentials issue --kind service --label NAME',
        },
      ];
  const findings = [...expiring, ...missing];
  return findings.length > 0 ? findings : [{ check, status: 'ok', message: `Valid credentials: ${active.length}.` }];
}

/** Checks that the live counters in Redis can be read. */
export async function checkRedis({ ports }: Services, hasRedis: boolean): Promise<Finding> {
  const check = 'Redis';
  if (!hasRedis) return { check, status: 'ok', message: 'Not used: the live quota is in the database.' };
  try {
    await ports.externalCounters?.readCounters([ports.hashKeyID('doctor')]);
    return { check, status: 'ok', message: 'The live quota in Redis can be read.' };
  } catch (error) {
    if (errorCodeOf(error) !== 'UNAVAILABLE') throw error;
    const message = error instanceof Error ? error.message : 'Redis cannot be reached.';
    return { check, status: 'failed', message, remedy: 'Start Redis, or correct KEYFRONT_QUOTA_URL.' };
  }
}

/** Checks that every webhook is active and has no failed deliveries. */
export async function checkWebhooks({ webhooks }: Services): Promise<Finding[]> {
  const check = 'webhooks';
  const { intact, damaged } = await webhooks.list();
  const failed = damaged.map((id): Finding => {
    const remedy = `Run: keyfront webhooks remove ${id}`;
    return { check, status: 'failed', message: damagedWebhookMessage(id), remedy };
  });
  const paused = intact.flatMap((webhook): Finding[] => {
    if (!webhook.paused) return [];
    const message = `${webhook.id} is paused: ${printable(webhook.paused.why)}.`;
    return [{ check, status: 'warning', message, remedy: `Run: keyfront webhooks resume ${webhook.id}` }];
  });
  const failing = (await webhooks.deliveryStats()).flatMap(({ webhookID: id, deadLetters, retryingKeys }) => {
    const dead: Finding = {
      check,
      status: 'warning',
      message: `Dead letters of ${id}: ${deadLetters}.`,
      remedy: `See \`keyfront webhooks dead ${id}\`, and then run \`keyfront webhooks replay ${id}\`.`,
    };
    const retrying: Finding = {
      check,
      status: 'warning',
      message: `Deliveries to ${id} fail and are repeated; number of keys: ${retryingKeys}.`,
      remedy: `See \`keyfront webhooks test ${id}\`.`,
    };
    return [...(deadLetters > 0 ? [dead] : []), ...(retryingKeys > 0 ? [retrying] : [])];
  });
  const findings = [...failed, ...paused, ...failing];
  if (findings.length > 0) return findings;
  return [{ check, status: 'ok', message: `Webhooks: ${intact.length}, none with failed deliveries.` }];
}

const limits = { timeoutMs: 10_000, maxBytes: 4 * 1024 * 1024 };

/** Checks a service from outside: whether it is ready, its clock, and the service credential. Sends only GET requests. */
export async function* checkService({ baseURL, headers }: ServiceAddress): AsyncGenerator<Finding, void> {
  const get = async (path: string): Promise<FetchedText> =>
    fetchText(new URL(path, baseURL), { headers, redirect: 'manual' }, limits);
  let ready: FetchedText;
  try {
    ready = await get('./ready');
  } catch (error) {
    const message = `Cannot connect to ${baseURL.origin}: ${explainConnectionError(error)}.`;
    yield {
      check: 'service',
      status: 'failed',
      message,
      remedy: 'Correct --url or KEYFRONT_URL, or start the service.',
    };
    return;
  }
  yield judgeReadiness(baseURL, ready);
  const date = Date.parse(ready.headers.get('date') ?? '');
  if (!Number.isNaN(date)) yield judgeSkew(new Date(date), new Date());
  yield judgeCredential(await get('./svc/org/keys?limit=1'));
}

function judgeReadiness({ href }: URL, { status }: FetchedText): Finding {
  const check = 'service';
  if (status === 200) return { check, status: 'ok', message: `${href} is ready.` };
  if (status === 503) {
    const remedy = 'Read the log of the service, and run `keyfront doctor` where its data folder is.';
    return { check, status: 'failed', message: `${href} is not ready.`, remedy };
  }
  const message = `${href} is not a Keyfront service (status ${status}).`;
  return { check, status: 'failed', message, remedy: 'Correct --url or KEYFRONT_URL.' };
}

/** Compares the clock of a service with that of this machine. */
export function judgeSkew(service: Date, own: Date): Finding {
  const check = 'clock';
  const skewMs = Math.abs(service.getTime() - own.getTime());
  if (skewMs <= maxSkewMs)
    return { check, status: 'ok', message: `The time of the service is ${service.toISOString()}.` };
  const message = `The clocks of the service and of this machine differ by ${Math.round(skewMs / 1000)} seconds.`;
  return { check, status: 'warning', message, remedy: 'Synchronize the clocks of both machines.' };
}

function judgeCredential({ status }: FetchedText): Finding {
  const check = 'credential';
  if (status === 200) return { check, status: 'ok', message: 'The service credential is valid.' };
  if (status === 401) {
    const remedy = 'Issue one where the data folder is: keyfront credentials issue --kind service --label NAME';
    return { check, status: 'failed', message: 'The service credential is not valid.', remedy };
  }
  if (status === 403) {
    const remedy = 'Issue a credential with the scope read, if this one shall read keys.';
    return { check, status: 'warning', message: 'The service credential may not read keys.', remedy };
  }
  const message = `Keys cannot be listed (status ${status}).`;
  return { check, status: 'failed', message, remedy: 'Read the log of the service.' };
}
