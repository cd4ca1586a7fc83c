import { hostname } from 'node:os';
import { loadKeyRing } from '../crypto/key-ring.js';
import { parseJSON, stringifyJSON } from '../lib/json.js';
import type { Settings } from './storage.js';

/** The key ring of one host, as its service has reported it. */
export interface RingReport {
  /** The name of the host and the path of its key ring. */
  readonly host: string;
  readonly at: Date;
  readonly primaryID: string;
  readonly ids: readonly string[];
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
 * @param keyRingFile - the file whose keys are reported
 */
export function createRingReports(settings: Settings, keyRingFile: string, now: () => Date): RingReports {
  const own = `${hostname()}:${keyRingFile}`;

  async function list(): Promise<RingReport[]> {
    return (await settings.list(prefix)).map(([name, value]) => {
      // Written by us, from this very type.
      const content = parseJSON(value) as unknown as { at: string; primaryID: string; ids: string[] };
      return { ...content, host: name.slice(prefix.length), at: new Date(content.at) };
    });
  }

  const isWithin = ({ at }: RingReport, ms: number) => at.getTime() >= now().getTime() - ms;

  return {
    async report() {
      const { primaryID, ids } = loadKeyRing(keyRingFile);
      const value = stringifyJSON({ at: now().toISOString(), primaryID, ids });
      await settings.set(`${prefix}${own}`, value);
      const old = (await list()).filter((report) => !isWithin(report, keptMs));
      for (const { host } of old) await settings.remove(`${prefix}${host}`);
    },
    async active() {
      const active = (await list()).filter((report) => isWithin(report, activeMs));
      // The services of this host follow the file at once.
      const { primaryID, ids } = loadKeyRing(keyRingFile);
      return active.map((report) => (report.host === own ? { ...report, primaryID, ids } : report));
    },
  };
}
