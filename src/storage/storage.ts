import type { CredentialStore } from '../credentials/credential.js';
import type { ChangeFeed } from '../keys/change-feed.js';
import type { QuotaManager, QuotaOutbox } from '../keys/quota/quota-manager.js';
import type { KeyStore } from '../keys/ports.js';
import type { Telemetry } from '../telemetry/ports.js';
import type { TimeSlices } from './time-slices.js';
import type { WebhookStore } from '../webhooks/webhook.js';
import type { Authenticity } from './records/authenticity.js';
import type { Signatures } from './records/signatures.js';

/** Facts that hold for a whole database, such as how its keys are hashed. */
export interface Settings {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

/**
 * What opening may do: `create` makes an installation that is missing, `write` requires one and brings its schema up to
 * date, `read` requires one of the current schema and changes nothing.
 */
export type Access = 'create' | 'write' | 'read';

/** There is no installation at the place that the settings name. The message says where, and what to do. */
export class InstallationNotFoundError extends Error {}

/** A database of the schema that we write, which nothing has been answered from yet. */
export interface DatabaseHandle {
  /** What people know it by. Never holds a password. */
  readonly name: string;
  readonly hasKeys: boolean;
  /** Whether there is anything that was signed or sealed with a key ring. */
  readonly hasRows: boolean;
  /** Whether no process has completed the first start on it: it has no rows and no key check value. */
  readonly isNew: boolean;
  readonly settings: Settings;
  /** Begins to answer. */
  readonly start: (authenticity: Authenticity, surroundings: StorageDeps) => Promise<Storage>;
  readonly close: () => Promise<void>;
}

/** Does the work when it is this process's turn to write. */
export type RunExclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** What a database that answers has around it. */
export interface StorageDeps {
  /** Takes what a person should know. */
  readonly report: (line: string) => void;
  readonly now: () => Date;
  readonly watch?: Telemetry | undefined;
  /** For a file that several processes write to. A server sees to the turns itself. */
  readonly inTurn?: RunExclusive | undefined;
  /** Divides the synchronous work of all requests of the process; the engine makes its own when absent. */
  readonly slices?: TimeSlices | undefined;
}

/** Where keys, histories, credentials and settings are kept. */
export interface Storage {
  readonly store: KeyStore & QuotaManager & QuotaOutbox;
  readonly feed: ChangeFeed;
  readonly credentials: CredentialStore;
  readonly webhooks: WebhookStore;
  readonly signatures: Signatures;
  readonly settings: Settings;
  /** Why it takes no change, as words for a log; undefined where it has just taken one. */
  readonly whyNotReady: () => Promise<string | undefined>;
  /**
   * Whether changes can be expected to succeed. Finds out when a database's files were replaced while in use (`failed`
   * resolves then), and when a full disk has room again. Cheap enough for every second.
   */
  readonly checkWritable: () => Promise<boolean>;
  /** Resolves with the cause when it must not be written to any more. */
  readonly failed: Promise<Error>;
  /** What the database itself finds wrong with its file. */
  readonly damages: () => Promise<string[]>;
  readonly contents: () => Promise<Contents>;
  /**
   * Copies the database into a new file. No other work is permitted meanwhile.
   *
   * @throws {Error} when the engine leaves copies to another tool
   */
  readonly copyTo: (file: string, onProgress: (pages: number, part: number) => void) => Promise<void>;
  /** Gives the disk back what a log has taken that grew large. Undefined where it is not large, or not ours. */
  readonly shrinkLog: () => Promise<Shrinking | undefined>;
}

/** What a database holds, in figures. */
export interface Contents {
  readonly schemaVersion: number;
  readonly keys: number;
  /** The last thing that was done to any key; undefined where nothing has been done. */
  readonly newestChange: { readonly at: Date; readonly keyHash: string; readonly version: number } | undefined;
}

/** What became of a log that had grown too large. */
export interface Shrinking {
  readonly bytes: number;
  /** False where somebody still reads what only the log holds. */
  readonly isDone: boolean;
}
