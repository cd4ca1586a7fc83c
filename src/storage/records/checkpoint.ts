import { createHash } from 'node:crypto';
import { parseJSON } from '../../lib/json.js';
import type { HeadRow } from './head.js';

/** The names of rows in the table of heads. */
export const rootName = 'keys';
export const pageName = (prefix: string) => `keys.${prefix}`;
export const publishedName = (sequence: bigint) => `published.${String(sequence).padStart(19, '0')}`;
/** The mark that a key was purged, so that it is not missing. Its page removes it. */
export const purgedName = ({ keyHash, identity }: PurgedKey) => `purged.${keyHash}.${identity}`;

/** The state of a key, without its definition. */
export interface KeyHead {
  readonly keyHash: string;
  readonly identity: string;
  readonly version: number;
  /** The newest link of the history, which all entries before it lead to; base64url. */
  readonly link: string;
  readonly quotaUsed: bigint;
  readonly quotaRenews?: bigint | undefined;
  readonly deleted?: Date | undefined;
}

/** How a key differs from an earlier state of it. */
export type KeyRollback = { readonly head: KeyHead } & (
  | { readonly kind: 'missing' | 'replaced' | 'history' }
  | { readonly kind: 'older'; readonly version: number }
  | { readonly kind: 'quota'; readonly quotaUsed: bigint }
);

/** A key that was removed with its history, as the service does. */
export type PurgedKey = Pick<KeyHead, 'keyHash' | 'identity'>;

/** States of keys are in pages, by the first two digits of the hash. */
export const prefixes = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0'));
export const prefixOf = (keyHash: string) => keyHash.slice(0, 2);

/** The content of the row that covers all pages. Each version of it contains the digest of the version before. */
export interface Checkpoint {
  readonly previous: string;
  /** The sequence of the head of the credentials. */
  readonly credentials: string;
  /** The digest of each page, by its prefix. */
  readonly pages: Readonly<Record<string, string>>;
  /** The prefix of the page that was verified longest ago, with which the next step begins. Default: the first. */
  readonly next?: string | undefined;
  /** The newest published version. */
  readonly published?: PublishedCheckpoint;
}

/** A checkpoint that was written to the log. */
export interface PublishedCheckpoint {
  readonly sequence: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** Covers the checkpoint and all that were published before. */
  readonly digest: string;
}

/** The content of the row of a published checkpoint. */
export interface PublishedContent {
  readonly at: number;
  /** The digest of the checkpoint. */
  readonly checkpoint: string;
  /** The digest of the one that was published before. */
  readonly previous: string;
}

/** SHA-256 over a row of the table of heads, without its signature. */
export function digestOf({ name, sequence, content }: HeadRow): string {
  return createHash('sha256').update(`${name}|${sequence}|${content}`).digest('base64url');
}

/** Reads the content of a row that passed its integrity check. */
export function contentOf<T extends Checkpoint | PublishedContent>({ content }: HeadRow): T {
  // Written by us, from this very type.
  return parseJSON(content) as unknown as T;
}

type SavedState = [string, string, number, string, string, string | null, number | null];

/** 128 bits of a link show that an entry is another one. */
const linkChars = 22;

/** Encodes a page. */
export function pageToContent(states: readonly KeyHead[]): string {
  return JSON.stringify(
    states.map((state): SavedState => {
      const { keyHash, identity, version, link, quotaUsed, quotaRenews, deleted } = state;
      const renews = quotaRenews?.toString() ?? null;
      return [
        keyHash,
        Buffer.from(identity, 'hex').toString('base64url'),
        version,
        link.slice(0, linkChars),
        `${quotaUsed}`,
        renews,
        deleted?.getTime() ?? null,
      ];
    }),
  );
}

/** The inverse of `pageToContent`. */
export function pageFromContent(content: string): KeyHead[] {
  // Written by us, from this very type.
  const entries = parseJSON(content) as unknown as SavedState[];
  return entries.map(([keyHash, identity, version, link, quotaUsed, quotaRenews, deleted]) => ({
    keyHash,
    identity: Buffer.from(identity, 'base64url').toString('hex'),
    version,
    link,
    quotaUsed: BigInt(quotaUsed),
    quotaRenews: quotaRenews === null ? undefined : BigInt(quotaRenews),
    deleted: deleted === null ? undefined : new Date(deleted),
  }));
}

/**
 * Whether a key is missing because it was purged.
 *
 * @param keptAt - when the key was not deleted, unless its state has a later date; undefined for now
 * @param purgedBefore - keys that were deleted before this time are purged
 */
export function mayBePurged({ kind, head }: KeyRollback, keptAt: Date | undefined, purgedBefore: Date): boolean {
  const deleted = head.deleted ?? keptAt;
  return (kind === 'missing' || kind === 'replaced') && deleted !== undefined && deleted <= purgedBefore;
}
