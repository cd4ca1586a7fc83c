import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** A token of a parsed document takes about 450 bytes, so that this is about 15 MB. */
const maxTokens = 32_000;

/** What a document takes beside its tokens, in tokens. */
const documentTokens = 4;

/**
 * Keeps the documents that were used last, so that they are not parsed and validated again. Bounded by size and not by
 * number: a thousand of the largest documents would take half a gigabyte.
 */
export function createDocumentCache() {
  return new LRUCache<string, DocumentNode>({ maxSize: maxTokens, sizeCalculation: sizeOf });
}

function sizeOf({ loc }: DocumentNode): number {
  let size = documentTokens;
  for (let token = loc?.startToken; token; token = token.next ?? undefined) size += 1;
  return size;
}
