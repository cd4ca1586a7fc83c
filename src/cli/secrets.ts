import { readConfig } from '../config.js';
import { openInstallation, type Installation } from '../installation.js';
import { placeOf } from '../keys/keep-secrets.js';
import type { StoredKey } from '../keys/store.js';
import { addKey, dropInactiveKeys, loadKeyRing } from '../secrets/key-ring.js';
import { createProgress, type IO } from './io.js';

/** Adds a fresh key to the ring and seals everything under it. May be broken off and run again; services may run on. */
export async function rotate(io: IO): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  // Opened first, so that a ring that does not belong to the database is not added to.
  const installation = openInstallation(config, secrets);
  try {
    const { activeID } = addKey(config.keyRingFile, installation.now());
    const progress = createProgress(io, 'keys');
    let count = 0;
    for await (const { keyHash } of installation.store.all()) {
      await installation.store.reseal(keyHash, (stored) => resealed(installation, stored, activeID));
      count += 1;
      progress.show(count);
    }
    installation.resealCheck();
    progress.end();
    io.say(
      `Everything is sealed under the key ${activeID} now. Older keys stay in the ring until \`keyfront secrets prune\`.\n`,
    );
    return 0;
  } finally {
    installation.close();
  }
}

/** Drops the keys that nothing is sealed under any more. Refuses where something is. */
export async function prune(io: IO): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  const installation = openInstallation(config, secrets);
  try {
    const { activeID, ids } = loadKeyRing(config.keyRingFile);
    for await (const key of installation.store.all()) {
      if (sealedOf(key).some((sealed) => installation.sealer.keyIDOf(sealed) !== activeID)) {
        throw new Error('Something is still sealed under an older key. Run `keyfront secrets rotate` first.');
      }
    }
    // A rotation that broke off at its end has left the ring's own check word behind.
    installation.resealCheck();
    dropInactiveKeys(config.keyRingFile);
    io.say(`${ids.length - 1} older keys were dropped; ${activeID} stays.\n`);
    return 0;
  } finally {
    installation.close();
  }
}

function sealedOf({ sealedKeyID, secrets: { jwtSecret, hmacString } }: StoredKey): Uint8Array[] {
  return [sealedKeyID, jwtSecret, hmacString].filter((sealed) => sealed !== undefined);
}

function resealed({ sealer }: Installation, key: StoredKey, activeID: string): StoredKey {
  const again = (sealed: Uint8Array, secret: 'keyID' | 'jwtSecret' | 'hmacString') => {
    if (sealer.keyIDOf(sealed) === activeID) return sealed;
    const place = placeOf(key.keyHash, secret);
    return sealer.seal(sealer.open(sealed, place), place);
  };
  const { jwtSecret, hmacString } = key.secrets;
  return {
    ...key,
    sealedKeyID: again(key.sealedKeyID, 'keyID'),
    secrets: {
      ...key.secrets,
      jwtSecret: jwtSecret && again(jwtSecret, 'jwtSecret'),
      hmacString: hmacString && again(hmacString, 'hmacString'),
    },
  };
}
