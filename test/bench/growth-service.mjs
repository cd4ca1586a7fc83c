import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { readConfig } from '../../build/config/config.js';
import { openServices } from '../../build/storage/open-storage.js';
import { createKeyService } from '../../build/keys/key-service.js';
import { definitionOf, hashOf, isDeleted, keyIDOf } from './growth-keys.mjs';
import { ratios, spread } from './statistics.mjs';

const rounds = 9;
const roundMs = 1_000;
const caller = { credentialID: 'bench', label: 'bench', orgID: undefined, requestID: '' };

/** The operations on keys in the whole database, and their number of concurrent clients. */
const operations = [
  { name: 'read by hash', kind: 'read', clients: 1 },
  { name: 'update, one at a time', kind: 'update', clients: 1 },
  { name: 'update, 64 at once', kind: 'update', clients: 64 },
];

/**
 * Measures reads, and updates with a reset, through the service. Each round measures all sizes, and a ratio compares
 * figures of one round, so that other work of the machine affects all sizes alike.
 */
export async function serviceFigures(/** @type {readonly { data: string, size: number }[]} */ folders) {
  const opened = await Promise.all(folders.map(open));
  try {
    for (let round = 0; round < rounds; round += 1) {
      const turns = round % 2 === 0 ? opened : opened.toReversed();
      for (const operation of operations) for (const one of turns) await one.measure(operation);
    }
  } finally {
    for (const { close } of opened) await close();
  }
  return opened.map(({ costs }) =>
    Object.fromEntries([...costs].map(([name, values]) => [name, figureOf(values, opened[0]?.costs.get(name))])),
  );
}

async function open(/** @type {{ data: string, size: number }} */ { data, size }) {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: data });
  const installation = await openServices(config, secrets, {}, { access: 'create' });
  const keys = createKeyService(installation.ports);
  /** @type {Map<string, number[]>} */
  const costs = new Map();
  let visited = 0;

  /** Returns the next key in a permutation of all keys that are not deleted. */
  function nextKey() {
    for (;;) {
      const n = (++visited * 7919) % size;
      if (!isDeleted(n)) return n;
    }
  }

  const work = {
    read: async () => {
      if (!(await installation.store.find(hashOf(nextKey())))) throw new Error('There is no such key.');
    },
    update: async () => {
      const n = nextKey();
      const input = { ...definitionOf(n, size), rate: visited % 1000 };
      await keys.updateOrgKey(caller, { keyID: keyIDOf(n), input, resetQuota: true });
    },
  };

  return {
    costs,
    /**
     * Records the duration and the CPU time of an operation in microseconds, and the bytes read from the disk, which
     * show whether the page cache contains the files.
     */
    async measure(/** @type {{ name: string, kind: string, clients: number }} */ { name, kind, clients }) {
      const start = performance.now();
      const cpu = process.cpuUsage();
      const readBefore = bytesReadFromDisk();
      let done = 0;
      const client = async () => {
        while (performance.now() - start < roundMs) {
          await work[/** @type {'read' | 'update'} */ (kind)]();
          done += 1;
          // Runs other callbacks first, as between two requests.
          await setImmediate();
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      const { user, system } = process.cpuUsage(cpu);
      note(name, ((performance.now() - start) * 1000) / done);
      note(`${name}, of that CPU`, (user + system) / done);
      note(`${name}, bytes read from the disk`, (bytesReadFromDisk() - readBefore) / done);
    },
    close: () => installation.close(),
  };

  function note(/** @type {string} */ name, /** @type {number} */ cost) {
    costs.set(name, [...(costs.get(name) ?? []), cost]);
  }
}

function figureOf(/** @type {readonly number[]} */ values, /** @type {readonly number[] | undefined} */ smallest) {
  const { median, min, max } = spread(values);
  const ratio = ratios(values, smallest);
  // The smallest size may read nothing from the disk.
  const hasRatio = ratio && [ratio.median, ratio.min, ratio.max].every(Number.isFinite);
  return {
    median,
    text: `${Math.round(median)} [${Math.round(min)}-${Math.round(max)}]`,
    ratio: hasRatio ? `${ratio.median.toFixed(2)} [${ratio.min.toFixed(2)}-${ratio.max.toFixed(2)}]` : '-',
  };
}

/** Returns the number of bytes that the kernel has read from a disk for this process. */
function bytesReadFromDisk() {
  return Number(/^read_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
