import { setTimeout as wait } from 'node:timers/promises';
import { receiptLifetimeMs } from '../keys/idempotency.js';
import { recordExpiryNotices } from '../keys/expiry-notices.js';
import { noticeLifetimeMs } from '../keys/notices.js';
import { applyDueProposals } from '../keys/proposals/decide.js';
import { retireIdentifiers, retireSilentIdentifiers } from '../keys/rotate.js';
import type { UseLog } from '../keys/use/use-log.js';
import { dayOf, useDays } from '../keys/use/use.js';
import type { Services } from './open-storage.js';
import type { Checkpoints } from './sql/keys/checkpoints.js';
import type { Logger } from '../lib/log.js';

/** Work that runs again and again. `stop` resolves when the run in progress has ended. */
interface ScheduledJob {
  readonly stop: () => Promise<void>;
}

interface JobOptions {
  /** The wait between two runs, and before the first. */
  readonly everyMs: number;
  /** Begins at once, without a wait. */
  readonly isImmediate?: boolean;
  readonly log: Logger;
  /** The line for a failed run. */
  readonly failure: string;
  /** Runs once more at the end. The line if that fails. */
  readonly lastFailure?: string;
}

/** Runs work, and again `everyMs` after the end of each run, so that slow runs do not queue. */
function schedule(
  { everyMs, isImmediate = false, log, failure, lastFailure }: JobOptions,
  work: (signal: AbortSignal) => Promise<void>,
): ScheduledJob {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = () => wait(everyMs, undefined, { signal, ref: false }).catch(() => undefined);

  async function runUntilStopped(): Promise<void> {
    if (!isImmediate) await pause();
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) => log.error({ err: error }, failure));
      await pause();
    }
    if (lastFailure !== undefined) await work(signal).catch((err: unknown) => log.error({ err }, lastFailure));
  }

  const running = runUntilStopped();
  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

interface ScheduledJobsOptions {
  /** How long a deleted key can be restored. */
  readonly restoreWindowMs: number;
  /** How many days before the expiry of a key there is a notice. */
  readonly expiryNoticeDays: readonly number[];
  /** How long proposals are kept after their end. */
  readonly proposalsKeptMs: number;
  /** An interval for most jobs, for tests. The purge does not begin at once then. */
  readonly jobsEveryMs?: number | undefined;
  /** Whether several hosts may share the database. A file has one host. */
  readonly mayHaveOtherHosts: boolean;
  readonly useLog: UseLog;
}

/** Starts the jobs of a service. */
export function startScheduledJobs(
  services: Services,
  { restoreWindowMs, proposalsKeptMs, jobsEveryMs, mayHaveOtherHosts, ...options }: ScheduledJobsOptions,
  log: Logger,
): ScheduledJob {
  const jobs = [
    startUseWrites(options.useLog, log, jobsEveryMs),
    startPurging(services, { restoreWindowMs, proposalsKeptMs }, log, jobsEveryMs),
    startProposals(services, log, jobsEveryMs),
    startRetirements(services, log, jobsEveryMs),
    startSilentRetirements(services, log, jobsEveryMs),
    startExpiryNotices(services, options.expiryNoticeDays, log, jobsEveryMs),
    startQuotaNotices(services, log, jobsEveryMs),
    startCheckpoints(services, restoreWindowMs, log, jobsEveryMs),
    startCredentialChecks(services, log, jobsEveryMs),
    startReceiptCounts(services, log, jobsEveryMs),
    startStorageChecks(services, log),
    startFileChecks(services, log, jobsEveryMs),
    ...(services.relayPending ? [startRelay(services.relayPending, log)] : []),
    ...(mayHaveOtherHosts ? [startRingReports(services, log)] : []),
  ];
  return {
    stop: async () => {
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

const purgeEveryMs = 3_600_000;

/** Purges keys whose restore window is over, and what else is not kept any more, now and every hour. */
function startPurging(
  { store, proposals, uses, now }: Services,
  { restoreWindowMs, proposalsKeptMs }: Pick<ScheduledJobsOptions, 'restoreWindowMs' | 'proposalsKeptMs'>,
  log: Logger,
  everyMs?: number,
): ScheduledJob {
  const failure = 'purging failed; it is tried again in an hour';
  const pace = everyMs === undefined ? { everyMs: purgeEveryMs, isImmediate: true } : { everyMs };
  return schedule({ ...pace, log, failure }, async () => {
    const purged = await store.purge(new Date(now().getTime() - restoreWindowMs), now());
    if (purged > 0) log.info({ purged }, 'deleted keys purged');
    await store.purgeNotices(new Date(now().getTime() - noticeLifetimeMs));
    await store.purgeReceipts(new Date(now().getTime() - receiptLifetimeMs));
    await proposals.purge(new Date(now().getTime() - proposalsKeptMs));
    await uses.purge(dayOf(now().getTime()) - useDays);
  });
}

const writeUsesEveryMs = 5_000;

/** Writes the uses of keys, and what is left of them at the end. */
function startUseWrites(useLog: UseLog, log: Logger, everyMs = writeUsesEveryMs): ScheduledJob {
  const failure = 'the use of keys could not be written; it is tried again in five seconds';
  const lastFailure = 'the last use of keys could not be written';
  let known = 0;
  return schedule({ everyMs, log, failure, lastFailure }, async () => {
    const dropped = useLog.dropped();
    if (dropped > known) log.warn({ requests: dropped - known }, 'requests are missing in the use of keys');
    known = dropped;
    await useLog.flush();
  });
}

const retireEveryMs = 1_000;

/** Records the ends of the overlaps of rotated keys, from which on their previous identifiers are rejected. */
function startRetirements(services: Services, log: Logger, everyMs = retireEveryMs): ScheduledJob {
  const failure = 'the retirements of identifiers could not be recorded';
  return schedule({ everyMs, log, failure }, async () => {
    const retired = await retireIdentifiers(services, (keyHash, err) => {
      log.error({ err, keyHash }, 'the retirement of an identifier could not be recorded');
    });
    if (retired > 0) log.info({ retired }, 'identifiers retired');
  });
}

const proposalsEveryMs = 1_000;
/** One that could not be applied is not logged more often. */
const reportEachEveryMs = 60_000;

/** Applies the proposals whose time has come, and ends those that nobody has approved in time. */
function startProposals({ ports }: Services, log: Logger, everyMs = proposalsEveryMs): ScheduledJob {
  const reported = new Map<string, number>();
  return schedule({ everyMs, log, failure: 'the proposals that are due could not be read' }, async () => {
    const nowMs = performance.now();
    for (const [id, atMs] of reported) if (nowMs - atMs > reportEachEveryMs) reported.delete(id);
    const ended = await applyDueProposals(ports, (proposal, err) => {
      if (!reported.has(proposal)) log.error({ err, proposal }, 'a proposal could not be applied; it is tried again');
      reported.set(proposal, reported.get(proposal) ?? nowMs);
    });
    if (ended > 0) log.info({ proposals: ended }, 'proposals ended: their time has come');
  });
}

const noticeEveryMs = 5_000;

/** Records which keys expire soon, and which have expired. */
function startExpiryNotices(
  services: Services,
  days: readonly number[],
  log: Logger,
  everyMs = noticeEveryMs,
): ScheduledJob {
  const failure = 'the expiry of keys could not be noticed';
  return schedule({ everyMs, log, failure }, async () => {
    const { recorded, late, damaged } = await recordExpiryNotices(services, days);
    if (recorded > 0) log.info({ recorded }, 'notices of the expiry of keys recorded');
    if (late > 0) log.warn({ late }, 'keys expired more than 7 days ago while no service ran; they have no event');
    if (damaged > 0) log.error({ damaged }, 'keys that expire fail their integrity check; run `keyfront check`');
  });
}

const flushEveryMs = 1_000;

/** Records the notices of quotas that were noted since, and at the end. */
function startQuotaNotices({ ports: { quotaNotices } }: Services, log: Logger, everyMs = flushEveryMs): ScheduledJob {
  const failure = 'the notices of quotas could not be recorded';
  return schedule({ everyMs, log, failure, lastFailure: failure }, async () => {
    const recorded = (await quotaNotices?.flush()) ?? 0;
    if (recorded > 0) log.info({ recorded }, 'notices of quotas recorded');
  });
}

const retireSilentEveryMs = 10_000;

/** Retires identifiers of rotated keys that are no longer used, if their rotations say so. */
function startSilentRetirements(services: Services, log: Logger, everyMs = retireSilentEveryMs): ScheduledJob {
  const failure = 'silent identifiers could not be retired';
  return schedule({ everyMs, log, failure }, async () => {
    const retired = await retireSilentIdentifiers(services, (keyHash, err) => {
      log.error({ err, keyHash }, 'a silent identifier could not be retired');
    });
    if (retired > 0) log.info({ retired }, 'silent identifiers retired');
  });
}

const checkEveryMs = 1_000;

/** Detects that the files of the database were replaced, or that a full disk has free space again. */
function startStorageChecks({ checkWritable }: Services, log: Logger): ScheduledJob {
  return schedule({ everyMs: checkEveryMs, log, failure: 'storage could not be checked' }, async () => {
    await checkWritable();
  });
}

/** Detects that the files of the database were overwritten. */
function startFileChecks({ checkFiles }: Services, log: Logger, everyMs = defaultCheckpointEveryMs): ScheduledJob {
  const failure = 'the files of the database could not be checked';
  return schedule({ everyMs, log, failure }, async () => checkFiles());
}

const relayEveryMs = 1_000;

/** Applies the pending changes of counters in Redis. */
function startRelay(relayPending: (signal: AbortSignal) => Promise<void>, log: Logger): ScheduledJob {
  const failure = 'the pending changes of live quotas could not be applied';
  return schedule({ everyMs: relayEveryMs, log, failure }, relayPending);
}

const reportEveryMs = 20_000;

/** Reports the key ring of this host to the other hosts of the database, for the stages of a rotation. */
function startRingReports({ ringReports }: Services, log: Logger): ScheduledJob {
  const failure = 'the key ring could not be reported to the other hosts';
  return schedule({ everyMs: reportEveryMs, isImmediate: true, log, failure }, async () => ringReports.report());
}

const defaultCheckpointEveryMs = 10_000;
const publishEveryMs = 600_000;

/** Verifies keys against checkpoints, brings these up to date, and publishes the newest in the log. */
export function startCheckpoints(
  { checkpoints, now }: { readonly checkpoints: Pick<Checkpoints, 'advance' | 'publish'>; readonly now: () => Date },
  restoreWindowMs: number,
  log: Logger,
  everyMs = defaultCheckpointEveryMs,
): ScheduledJob {
  const reported = new Set<string>();
  return schedule({ everyMs, log, failure: 'the keys could not be verified against the head' }, async () => {
    const purgedBefore = new Date(now().getTime() - restoreWindowMs);
    const { rollbacks } = await checkpoints.advance({ purgedBefore });
    for (const { kind, head } of rollbacks) {
      const name = `${kind} ${head.keyHash}`;
      if (!reported.has(name)) log.error({ keyHash: head.keyHash, kind }, 'an older state of a key was put back');
      reported.add(name);
    }
    const checkpoint = await checkpoints.publish(now(), publishEveryMs);
    if (checkpoint?.isClockSetBack) log.warn('the clock was ahead when the last head was published');
    if (checkpoint) log.info({ sequence: checkpoint.sequence, digest: checkpoint.digest }, 'head published');
  });
}

/** Verifies that the credentials are not older than the head of the keys names. They are rejected otherwise. */
function startCredentialChecks(
  { credentials }: Services,
  log: Logger,
  everyMs = defaultCheckpointEveryMs,
): ScheduledJob {
  return schedule({ everyMs, log, failure: 'the head of the credentials could not be verified' }, async () =>
    credentials.verifyHead(),
  );
}

/** Counts the receipts, so that `keyfront check` names those that are removed. */
function startReceiptCounts(
  { receiptCounts, now }: Services,
  log: Logger,
  everyMs = defaultCheckpointEveryMs,
): ScheduledJob {
  return schedule({ everyMs, log, failure: 'the receipts could not be counted' }, () => receiptCounts.advance(now()));
}
