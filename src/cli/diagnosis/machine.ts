import { X509Certificate } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../../config/config.js';
import { readTLS, type TLSFiles } from '../../http/server/tls.js';
import { isLoopback } from '../../lib/loopback.js';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  /** What to do; absent if the status is `ok`. */
  readonly remedy?: string;
}

/** Checks the settings for combinations that are valid and insecure. */
export function checkSettings({ host, tls, production }: Config): Finding[] {
  const check = 'configuration';
  const findings: Finding[] = [];
  if (!tls && !isLoopback(host)) {
    const remedy = 'Terminate TLS in a proxy, or set KEYFRONT_TLS_CERT and KEYFRONT_TLS_KEY.';
    findings.push({ check, status: 'warning', message: `The service uses plain HTTP on ${host}.`, remedy });
  }
  if (findings.length > 0) return findings;
  return [{ check, status: 'ok', message: `The settings are valid (${production ? 'production' : 'development'}).` }];
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
    if ((mode & 0o077) !== 0) {
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
  const remedy = 'Synchronise the clock of the machine, for example with chrony or systemd-timesyncd.';
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
