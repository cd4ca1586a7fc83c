import { readConfig } from '../config.js';
import { openInstallation, type Installation } from '../installation.js';
import { placeOf } from '../keys/keep-secrets.js';
import type { StoredKey } from '../keys/store.js';
import { resealedWebhook, sealedInWebhook } from '../webhooks/manage.js';
import { addKey, dropInactiveKeys, loadKeyRing } from '../secrets/key-ring.js';
import type { IO } from './io.js';
import { createProgress } from './progress.js';

/** Adds a fresh key to the ring and seals everything under it. May be broken off and run again; services may run on. */
export async function rotate(io: IO): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  // Opened first, so that a ring that does not belong to the database is not added to.
  const installation = await openInstallation(config, secrets, {}, { access: 'write' });
  try {
    const { activeID } = addKey(config.keyRingFile, installation.now());
    const progress = createProgress(io, 'keys');
    const { keys: all } = await installation.contents();
    let count = 0;
    for await (const { keyHash } of installation.store.all()) {
      await installation.store.reseal(keyHash, (stored) => resealed(installation, stored, activeID));
      count += 1;
      progress.show(count, count / all);
    }
    const isCurrent = (sealed: Uint8Array) => installation.sealer.keyIDOf(sealed) === activeID;
    for (const { id } of await installation.webhooks.list()) {
      await installation.webhooks.change(id, (found) => resealedWebhook(found, installation.sealer, isCurrent));
    }
    // Rows are signed too: those that hold no secret, such as a history, were not written anew by the above.
    const left = await installation.signatures.renew(() => progress.show((count += 1)));
    await installation.resealWord();
    progress.end();
    if (left > 0)
      throw new Error(`${left} rows are not as they were written, and stay as they are. Run \`keyfront check\`.`);
    io.say(
      `Everything is sealed under the key ${activeID} now. Older keys stay in the ring until \`keyfront secrets prune\`.\n`,
    );
    return 0;
  } finally {
    await installation.close();
  }
}

/** Drops the keys that nothing is sealed under any more. Refuses where something is. */
export async function prune(io: IO): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  const installation = await openInstallation(config, secrets, {}, { access: 'write' });
  try {
    const { activeID, ids } = loadKeyRing(config.keyRingFile);
    for await (const key of installation.store.all()) {
      if (sealedOf(key).some((sealed) => installation.sealer.keyIDOf(sealed) !== activeID)) {
        throw stillInUse();
      }
    }
    for (const webhook of await installation.webhooks.list()) {
      if (sealedInWebhook(webhook).some(({ sealed }) => installation.sealer.keyIDOf(sealed) !== activeID)) {
        throw stillInUse();
      }
    }
    if (await installation.signatures.hasOlder()) throw stillInUse();
    // A rotation that broke off at its end has left the ring's own check word behind.
    await installation.resealWord();
    dropInactiveKeys(config.keyRingFile);
    io.say(`${ids.length - 1} older keys were dropped; ${activeID} stays.\n`);
    return 0;
  } finally {
    await installation.close();
  }
}

function stillInUse(): Error {
  return new Error('Something is still sealed under an older key. Run `keyfront secrets rotate` first.');
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
