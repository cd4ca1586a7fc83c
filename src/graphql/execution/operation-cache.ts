import { getOperationAST, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { compileOperation, type CompiledOperation } from './executor/compile.js';
import { fieldsUsedIn } from './field-usage.js';
import { tokensOf } from './limits.js';
import { rootFieldsOf, type SelectedRootField } from './root-fields.js';

/** An operation of a document, with its validation state and its compiled form. */
export interface PreparedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The number of tokens of its document. */
  readonly tokens: number;
  /** Its root fields, without introspection. */
  readonly rootFields: readonly SelectedRootField[];
  /** The names of its root fields. */
  readonly fields: readonly string[];
  /** Its only root field; `several` if it has more, `other` if it has none. For logs and metrics. */
  readonly label: string;
  /** The coordinates of the schema that its document uses. For metrics. */
  readonly usedFields: readonly string[];
  /** Whether the cache has its document. */
  readonly isKept: boolean;
  /** Set when it has been validated. */
  isValid: boolean;
  /** Set when it is within the limits of every client for all values of its variables. */
  isWithinLimits: boolean;
  /** For the executor. */
  readonly compiled: CompiledOperation;
}

/** The most recently used documents, and their prepared operations. */
export interface OperationCache {
  /** Returns the kept document with this text. */
  readonly get: (text: string) => DocumentNode | undefined;
  /** Keeps a document that was parsed with locations: a valid one, of a client with a credential. */
  readonly keep: (document: DocumentNode) => void;
  /** Prepares an operation; undefined when the document has none with this name. */
  readonly prepare: (document: DocumentNode, operationName: string | null | undefined) => PreparedOperation | undefined;
}

const maxBytes = 15_000_000;

/** What the parts of a parsed document take, about. */
const bytesOf = { document: 2_000, token: 450, character: 2 };

/**
 * Caches the most recently used documents, so that they are not parsed and validated again. Bounded by size and not by
 * number: a thousand of the largest documents would take half a gigabyte. Compiled operations grow while they are
 * executed: when those of kept documents together have more than `maxFields` fields, the cache discards all. Compiling an
 * operation again takes half as long as executing it.
 */
export function createOperationCache(schema: GraphQLSchema, maxFields = 50_000): OperationCache {
  const documents = new LRUCache<string, DocumentNode>({ maxSize: maxBytes, sizeCalculation: sizeOf });
  const isKept = (document: DocumentNode) => documents.peek(textOf(document)) === document;
  // Keyed by the AST node of the operation: each cached document has its own.
  let prepared = new WeakMap<OperationDefinitionNode, PreparedOperation>();
  let compiledFields = 0;

  function countFields(fields: number): void {
    compiledFields += fields;
    if (compiledFields <= maxFields) return;
    prepared = new WeakMap();
    compiledFields = 0;
  }

  function create(document: DocumentNode, operation: OperationDefinitionNode): PreparedOperation {
    const rootFields = rootFieldsOf(schema, document, operation);
    const fields = [...new Set(rootFields.map(({ field }) => field.name))];
    const [first = 'other', ...more] = fields;
    const label = more.length === 0 ? first : 'several';
    let compiled: CompiledOperation | undefined;
    let usedFields: readonly string[] | undefined;
    let tokens: number | undefined;
    return {
      document,
      operation,
      get tokens() {
        return (tokens ??= tokensOf(document));
      },
      rootFields,
      fields,
      label,
      get usedFields() {
        return (usedFields ??= fieldsUsedIn(schema, document));
      },
      get isKept() {
        return isKept(document);
      },
      isValid: false,
      isWithinLimits: false,
      get compiled() {
        return (compiled ??= compileOperation(schema, document, operation, (count) => {
          if (isKept(document)) countFields(count);
        }));
      },
    };
  }

  return {
    get: (text) => documents.get(text),
    keep(document) {
      if (!isKept(document)) documents.set(textOf(document), document);
    },
    prepare(document, operationName) {
      const operation = getOperationAST(document, operationName);
      if (!operation) return undefined;
      const existing = prepared.get(operation);
      if (existing) return existing;
      const created = create(document, operation);
      prepared.set(operation, created);
      return created;
    },
  };
}

function textOf({ loc }: DocumentNode): string {
  return loc?.source.body ?? '';
}

/** The size of a document in bytes. A comment is one token of any length. */
function sizeOf(document: DocumentNode): number {
  let size = bytesOf.document + bytesOf.character * textOf(document).length;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) size += bytesOf.token;
  return size;
}
