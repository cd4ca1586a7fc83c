import { hostname } from 'node:os';
import type { Config } from '../config/config.js';
import type { KeyRing } from '../crypto/key-ring.js';
import { parseJSON, stringifyJSON } from '../lib/json.js';
import type { Settings } from './storage.js';

/** The key ring and the profile of one host, as its service has reported them. */
export interface RingReport {
  /** The name of the host and the path of its key ring. */
  readonly host: string;
  /** By the clock of the database: those of hosts may differ by more than the time for which a report counts. */
  readonly at: Date;
  readonly primaryID: string;
  readonly ids: readonly string[];
  /** Whether the service runs with NODE_ENV=production; undefined for a service of an earlier version. */
  readonly isProduction?: boolean;
}

/** The key rings of the hosts that share a database: each has a copy of its own. */
export interface RingReports {
  /** Stores the report of this host, and removes those of hosts that have not reported for a day. */
  readonly report: () => Promise<void>;
  /** The hosts whose services have reported within the last two minutes, this one included. */
  readonly active: () => Promise<RingReport[]>;
}

const prefix = 'ring_of ';
const activeMs = 120_000;
/** Each pod of a container platform has another host name. */
const keptMs = 86_400_000;

/**
 * The reports of this process, and those that other processes have stored.
 *
 * @param config - the settings of this process, which are reported
 * @param ring - the ring in use, which is that of the file unless it cannot be read: its keys are reported
 */
export function createRingReports(
  settings: Settings,
  { keyRingFile, production: isProduction }: Pick<Config, 'keyRingFile' | 'production'>,
  ring: () => KeyRing,
): RingReports {
  const own = `${hostname()}:${keyRingFile}`;

  async function list(): Promise<RingReport[]> {
    return (await settings.list(prefix)).map(([name, value]) => {
      // Written by us, from this very type.
      const content = parseJSON(value) as unknown as Omit<RingReport, 'at' | 'host'> & { readonly at: string };
      return { ...content, host: name.slice(prefix.length), at: new Date(content.at) };
    });
  }

  async function listOfLast(ms: number): Promise<[recent: RingReport[], older: RingReport[]]> {
    const sinceMs = (await settings.now()).getTime() - ms;
    const reports = await list();
    return [reports.filter(({ at }) => at.getTime() >= sinceMs), reports.filter(({ at }) => at.getTime() < sinceMs)];
  }

  return {
    async report() {
      const { primaryID, ids } = ring();
      const value = stringifyJSON({ at: (await settings.now()).toISOString(), primaryID, ids, isProduction });
      await settings.set(`${prefix}${own}`, value);
      const [, old] = await listOfLast(keptMs);
      for (const { host } of old) await settings.remove(`${prefix}${host}`);
    },
    async active() {
      const [active] = await listOfLast(activeMs);
      // The services of this host follow the file at once.
      const { primaryID, ids } = ring();
      return active.map((report) => (report.host === own ? { ...report, primaryID, ids } : report));
    },
  };
}
