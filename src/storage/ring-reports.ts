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
  readonly report: () => Promise<void>;
  /** The hosts whose services have reported within the last two minutes, this one included. */
  readonly active: () => Promise<RingReport[]>;
}

const prefix = 'ring_of ';
const activeMs = 120_000;

/**
 * The reports of this process, and those that other processes have stored.
 *
 * @param keyRingFile - the file whose keys are reported
 */
export function createRingReports(settings: Settings, keyRingFile: string, now: () => Date): RingReports {
  const own = `${hostname()}:${keyRingFile}`;
  return {
    report: () => {
      const { primaryID, ids } = loadKeyRing(keyRingFile);
      const value = stringifyJSON({ at: now().toISOString(), primaryID, ids });
      return settings.set(`${prefix}${own}`, value);
    },
    async active() {
      const since = now().getTime() - activeMs;
      const reports = (await settings.list(prefix)).map(([name, value]): RingReport => {
        // Written by us, from this very type.
        const content = parseJSON(value) as unknown as { at: string; primaryID: string; ids: string[] };
        return { ...content, host: name.slice(prefix.length), at: new Date(content.at) };
      });
      const active = reports.filter(({ at }) => at.getTime() >= since);
      // The services of this host follow the file at once.
      const { primaryID, ids } = loadKeyRing(keyRingFile);
      return active.map((report) => (report.host === own ? { ...report, primaryID, ids } : report));
    },
  };
}
