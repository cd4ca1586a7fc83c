import type { CredentialStore } from '../credentials/credential.js';
import type { PolicyStore } from '../keys/access/policy-store.js';
import type { ChangeFeed } from '../keys/change-feed.js';
import type { GatewayStore } from '../keys/gateway-store.js';
import type { QuotaOutbox } from '../keys/quota/external-counters.js';
import type { KeyStore } from '../keys/ports.js';
import type { ProposalStore } from '../keys/proposals/proposal-store.js';
import type { UseStore } from '../keys/use/use.js';
import type { Telemetry } from '../telemetry/ports.js';
import type { TimeSlices } from './time-slices.js';
import type { WebhookStore } from '../webhooks/webhook.js';
import { keyRingCheckName } from '../crypto/key-ring-check.js';
import type { RowSigner } from '../crypto/row-signer.js';
import type { Checkpoints } from './sql/keys/checkpoints.js';
import type { ReceiptCounts } from './sql/keys/receipt-counts.js';
import type { Signatures } from './sql/signatures.js';

/** Settings of a database, such as how its keys are hashed. */
export interface Settings {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** The settings whose names begin with the prefix, with their values. */
  list(prefix: string): Promise<(readonly [name: string, value: string])[]>;
  /** The time by the clock that all processes on the database share. */
  now(): Promise<Date>;
}

/**
 * Access rights: `create` creates a missing installation, `write` requires one and migrates its schema, `read` requires one
 * with the current schema and changes nothing.
 */
export type Access = 'create' | 'write' | 'read';

/** The settings name no installation. The message names the location and the remedy. */
export class InstallationNotFoundError extends Error {}

/** An open database with the current schema, which serves no requests yet. */
export interface DatabaseHandle {
  /** The name for messages, without a password. */
  readonly name: string;
  readonly hasKeys: boolean;
  /** Whether there is anything that was signed or sealed with a key ring. */
  readonly hasRows: boolean;
  readonly settings: Settings;
  /** Begins to serve requests. */
  readonly start: (signer: RowSigner, deps: StorageDeps) => Promise<Storage>;
  readonly close: () => Promise<void>;
}

/** Whether no process has completed the first start on a database: it has no rows and no key check value. */
export async function isNew({ hasRows, settings }: DatabaseHandle): Promise<boolean> {
  return !hasRows && (await settings.get(keyRingCheckName)) === undefined;
}

/** Runs work while this process holds the write lock. */
export type RunExclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** The dependencies of a storage engine. */
export interface StorageDeps {
  /** Receives lines for the operator. */
  readonly report: (line: string) => void;
  readonly now: () => Date;
  readonly telemetry: Telemetry;
  /** For a file that several processes write to. */
  readonly runExclusive?: RunExclusive | undefined;
  /** Divides the synchronous work of all requests of the process. */
  readonly slices: TimeSlices;
}

/** A storage engine in use. */
export interface Storage {
  readonly store: KeyStore & QuotaOutbox;
  readonly feed: ChangeFeed;
  readonly credentials: CredentialStore;
  readonly webhooks: WebhookStore;
  readonly policies: PolicyStore;
  readonly uses: UseStore;
  readonly proposals: ProposalStore;
  readonly gateways: GatewayStore;
  readonly signatures: Signatures;
  readonly checkpoints: Checkpoints;
  readonly receiptCounts: ReceiptCounts;
  readonly settings: Settings;
  /** The reason why writes fail, for the log; undefined when a write has just succeeded. */
  readonly whyNotReady: () => Promise<string | undefined>;
  /**
   * Whether changes can be expected to succeed. Detects that the files of a database were replaced while in use (`failed`
   * resolves then), and that a full disk has free space again. Cheap enough for every second.
   */
  readonly checkWritable: () => Promise<boolean>;
  /** Detects that the files of a database were overwritten while in use (`failed` resolves then). May write a marker. */
  readonly checkFiles: () => Promise<void>;
  /** Resolves with the cause after a fatal storage error. */
  readonly failed: Promise<Error>;
  /** The errors that the database finds in its own file. */
  readonly damages: () => Promise<string[]>;
  readonly contents: () => Promise<Contents>;
  /**
   * Copies the database into a new file. No other work is permitted meanwhile.
   *
   * @throws {Error} when the engine leaves copies to another tool
   */
  readonly copyTo: (file: string, onProgress: (pages: number, part: number) => void) => Promise<void>;
  /**
   * Runs an import of keys. If there are no keys yet, SQLite has no indexes for lists and searches meanwhile, and creates
   * them at the end; after an interruption, the next process that opens the file for writing does.
   */
  readonly load: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Figures of a database. */
export interface Contents {
  readonly schemaVersion: number;
  readonly keys: number;
  /** The newest change of any key; undefined if there is none. */
  readonly newestChange: { readonly at: Date; readonly keyHash: string; readonly version: number } | undefined;
}
