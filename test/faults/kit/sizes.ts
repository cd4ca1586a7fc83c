/** The size of each harness in `npm run test:system`, and in `npm run test:faults` (`FAULTS=full`). */
const sizes = {
  /** Kills under load and during starts. */
  KILL_CYCLES: { short: 20, full: 500 },
  /** Maximum number of disk calls of a command or a start at which it is killed, evenly spread. */
  KILL_POINTS: { short: 3, full: 40 },
  COMPOUND_RUNS: { short: 1, full: 20 },
  ROTATION_KILLS: { short: 2, full: 40 },
  /** Kills while a key gets other identifiers, on each engine. */
  KEY_ROTATION_KILLS: { short: 4, full: 100 },
  /**
   * Kills of a service that records notices, of one and the adapter of its gateway, and of one that writes the use of keys, on
   * each engine.
   */
  NOTICE_KILLS: { short: 2, full: 60 },
  /** Kills of a service, of `deliver file` and of a gateway that uses its file, for each gateway. */
  DELIVERY_KILLS: { short: 4, full: 60 },
  RECEIPT_KILLS: { short: 2, full: 50 },
  USE_KILLS: { short: 1, full: 30 },
  /** Kills of a service around the times and the approvals of proposals, on each engine. */
  PROPOSAL_KILLS: { short: 2, full: 60 },
  /** Kills of a service that issues and rotates credentials by API, on each engine. */
  CREDENTIAL_KILLS: { short: 3, full: 60 },
  /** Rotations in stages, each with two kills and restarts of services at every stage, on each engine. */
  STAGED_ROTATIONS: { short: 1, full: 20 },
  POWER_IMAGES: { short: 50, full: 10_000 },
  /** Disk calls of a service that fail, for each kind of failure; also four times as many syncs. */
  DISK_FAULT_POINTS: { short: 1, full: 1_000 },
  STOPS: { short: 3, full: 100 },
  /** Kills of a service on PostgreSQL, of the server, and of connections, in rotation. */
  POSTGRES_CYCLES: { short: 3, full: 150 },
  /** Kills of the primary of two PostgreSQL servers, each followed by the promotion of its standby. */
  POSTGRES_FAILOVERS: { short: 2, full: 24 },
  /** Rolling upgrades of two services, on each engine. */
  UPGRADES: { short: 1, full: 20 },
  /** Kills of a service, kills and pauses of Redis, in rotation, with one inspection at the end. */
  REDIS_CYCLES: { short: 4, full: 200 },
  /** Kills of the primary of two Redis servers, each followed by the promotion of its replica. */
  REDIS_FAILOVERS: { short: 1, full: 24 },
  /** Kills of `migrate-store`, from its first to its last chunk. */
  MOVING_KILLS: { short: 3, full: 80 },
  /** Services with two workers, each with three kills of a worker. */
  WORKER_KILLS: { short: 1, full: 40 },
  /** Kills of a service that sends webhooks, on each engine. */
  WEBHOOK_KILLS: { short: 1, full: 40 },
} as const;

const isSize = (name: string): name is 'short' | 'full' => ['short', 'full'].includes(name);

/** Returns the size of a harness, from `FAULTS` or from the environment variable of its name. */
export function sizeOf(name: keyof typeof sizes): number {
  const column = process.env['FAULTS'] ?? 'short';
  if (!isSize(column)) throw new Error('FAULTS must be short or full.');
  return Number(process.env[name] ?? sizes[name][column]);
}

/** Returns at most `maxCount` of the numbers from 1 to `last`, evenly spread, with the first and the last. */
export function evenly(last: number, maxCount: number): number[] {
  if (last <= maxCount) return Array.from({ length: last }, (_, index) => index + 1);
  if (maxCount === 1) return [Math.ceil(last / 2)];
  return Array.from({ length: maxCount }, (_, index) => 1 + Math.round((index * (last - 1)) / (maxCount - 1)));
}
