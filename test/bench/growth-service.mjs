import { setImmediate } from 'node:timers/promises';
import { readConfig } from '../../build/config.js';
import { openInstallation } from '../../build/installation.js';
import { createKeyService } from '../../build/keys/service.js';
import { definitionOf, isDeleted, keyIDOf } from './growth-keys.mjs';
import { spread } from './statistics.mjs';

const rounds = 3;
const roundMs = 2_000;
const caller = { credentialID: 'bench', label: 'bench', orgID: undefined, requestID: '' };

/** Updates with a reset through the service, one after another and 64 at once, all over the keys of a data folder. */
export async function serviceFigures(/** @type {string} */ data, /** @type {number} */ size) {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: data });
  const installation = openInstallation(config, secrets);
  const keys = createKeyService(installation.ports);
  let updates = 0;

  /** The next key in a walk that visits all of them, the deleted ones left out. */
  function nextKey() {
    for (;;) {
      const n = (++updates * 7919) % size;
      if (!isDeleted(n)) return n;
    }
  }

  async function updateNext() {
    const n = nextKey();
    const input = { ...definitionOf(n, size), rate: updates % 1000 };
    await keys.updateOrgKey(caller, { keyID: keyIDOf(n), input, resetQuota: true });
  }

  async function perSecond(/** @type {number} */ clients) {
    const start = performance.now();
    let done = 0;
    const client = async () => {
      while (performance.now() - start < roundMs) {
        await updateNext();
        done += 1;
        // As between two requests: whatever else waits has its turn.
        await setImmediate();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return (done / (performance.now() - start)) * 1000;
  }

  try {
    const rates = { one: /** @type {number[]} */ ([]), many: /** @type {number[]} */ ([]) };
    for (let round = 0; round < rounds; round += 1) {
      rates.one.push(await perSecond(1));
      rates.many.push(await perSecond(64));
    }
    return {
      'updates a second, one at a time': rateOf(rates.one),
      'updates a second, 64 at once': rateOf(rates.many),
    };
  } finally {
    installation.close();
  }
}

function rateOf(/** @type {readonly number[]} */ rates) {
  const { median, min, max } = spread(rates);
  return { median, text: `${Math.round(median)} [${Math.round(min)}-${Math.round(max)}]` };
}
