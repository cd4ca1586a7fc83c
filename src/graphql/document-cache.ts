import type { DocumentNode } from 'graphql';

/** A token of a parsed document takes some 450 bytes in memory, so that this is about 15 MB. */
const mostTokens = 32_000;

/** What a document takes beside its tokens, in tokens. */
const ownTokens = 4;

/**
 * Keeps the documents that were used last, so that they need not be parsed and validated again. Bounded by how large
 * they are and not by how many: of the largest ones a thousand would take half a gigabyte.
 */
export function createDocumentCache() {
  // In the order of use. What is taken out and put in again comes last.
  const documents = new Map<string, DocumentNode>();
  let tokens = 0;
  return {
    get: (text: string): DocumentNode | undefined => {
      const found = documents.get(text);
      if (!found) return undefined;
      documents.delete(text);
      documents.set(text, found);
      return found;
    },
    set: (text: string, document: DocumentNode): void => {
      if (!documents.has(text)) tokens += sizeOf(document);
      documents.set(text, document);
      for (const [oldest, dropped] of documents) {
        if (tokens <= mostTokens) return;
        documents.delete(oldest);
        tokens -= sizeOf(dropped);
      }
    },
  };
}

function sizeOf({ loc }: DocumentNode): number {
  let size = ownTokens;
  for (let token = loc?.startToken; token; token = token.next ?? undefined) size += 1;
  return size;
}
