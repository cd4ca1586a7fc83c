import { hashOf } from '../../support/factories.js';

/** The value of `KEYFRONT_QUOTA_KEYS`. */
export const counterNames = 'faults:{keyHash}';

/** Returns the name of the counter of a key in Redis. */
export const counterOf = (keyID: string) => counterNames.replace('{keyHash}', hashOf(keyID));
