import { hash as argon2Hash } from '@node-rs/argon2';
import { hash as bcryptHash } from '@node-rs/bcrypt';
import pLimit from 'p-limit';
import { AppError } from '../lib/errors.js';

/** The formats of a stored password. */
export type PasswordHashType = 'bcrypt' | 'argon2id';

/** Hashes passwords in the thread pool of libuv. */
export interface PasswordHasher {
  /**
   * Returns the hash with its salt and parameters.
   *
   * @throws {AppError} INVALID when bcrypt would truncate the password; UNAVAILABLE when too many hashes wait.
   */
  hash(password: string, type: PasswordHashType): Promise<string>;
  /** Number of waiting hashes. */
  waiting(): number;
}

const bcryptCost = 10;
const bcryptMaxBytes = 72;
/** OWASP's minimum, memory in KiB. 2 is Argon2id: the package's const enum cannot be used under isolatedModules. */
const argon2Options = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const bcryptPattern = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;
const argon2idPattern =
  /^\$argon2id\$v=(?:16|19)\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,7})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Creates a hasher that runs at most `concurrency` (2) hashes at a time, which leaves half of the four threads of the pool
 * to files and DNS, and queues at most `queueLimit` (32) more.
 */
export function createPasswordHasher(options: { concurrency?: number; queueLimit?: number } = {}): PasswordHasher {
  const { concurrency = 2, queueLimit = 32 } = options;
  const limit = pLimit(concurrency);
  return {
    waiting: () => limit.pendingCount,
    async hash(password, type) {
      if (type === 'bcrypt') assertHashableByBcrypt(password);
      if (limit.activeCount >= concurrency && limit.pendingCount >= queueLimit) {
        throw new AppError('UNAVAILABLE', 'Too many requests of this kind are waiting; try again shortly.', {
          retryAfterSeconds: 1,
        });
      }
      return limit(() => (type === 'bcrypt' ? hashWithBcrypt(password) : argon2Hash(password, argon2Options)));
    },
  };
}

/** Replaces the prefix `$2y$` of the library by `$2b$`: the same algorithm, which all verifiers support. */
async function hashWithBcrypt(password: string): Promise<string> {
  return (await bcryptHash(password, bcryptCost)).replace(/^\$2y\$/, '$2b$');
}

/** bcrypt ignores what follows byte 72, and many verifiers what follows a NUL: other passwords would match as well. */
function assertHashableByBcrypt(password: string): void {
  if (Buffer.byteLength(password, 'utf8') > bcryptMaxBytes || password.includes('\0')) {
    throw new AppError('INVALID', `A password for bcrypt has at most ${bcryptMaxBytes} bytes and no NUL.`);
  }
}

/** Returns the type of a complete bcrypt or Argon2id PHC string; undefined for any other text. */
export function hashTypeOf(hash: string): PasswordHashType | undefined {
  if (bcryptPattern.test(hash)) return 'bcrypt';
  return isArgon2id(hash) ? 'argon2id' : undefined;
}

/** Also checks the limits of RFC 9106, because a verifier cannot compute a hash outside them. */
function isArgon2id(text: string): boolean {
  const [, memory, passes, lanes, salt = '', tag = ''] = argon2idPattern.exec(text) ?? [];
  const [m, t, p] = [Number(memory), Number(passes), Number(lanes)];
  const inRange = m >= 8 * p && m < 2 ** 32 && t < 2 ** 32 && p < 2 ** 24;
  return inRange && base64Bytes(salt) >= 8 && base64Bytes(tag) >= 4;
}

/** The number of bytes that unpadded base64 encodes; -1 for an impossible length. */
function base64Bytes(text: string): number {
  return text.length % 4 === 1 ? -1 : Math.floor((text.length * 3) / 4);
}
