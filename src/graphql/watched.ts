import {
  getOperationAST,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { errorCodes, type ErrorCode } from '../lib/errors.js';
import type { Tracer, Watch } from '../watch.js';
import type { ServerContext } from './context.js';
import { rootFieldsOf } from './root-fields.js';

/** An operation by names of the schema alone. */
interface Named {
  readonly type: string;
  readonly fields: readonly string[];
  /** The one field that is asked for, or a word for none and for several. */
  readonly label: string;
}

/** Writes down what an operation asks for and how it is answered, and traces its execution. */
export function useWatch(schema: GraphQLSchema, { meter, tracer }: Watch): Plugin<object, ServerContext> {
  const known = new WeakMap<OperationDefinitionNode, Named>();

  function nameOf(document: DocumentNode, operationName: string | undefined): Named | undefined {
    const operation = getOperationAST(document, operationName);
    if (!operation) return undefined;
    const before = known.get(operation);
    if (before) return before;
    const found = rootFieldsOf(schema, { document, operationName })?.fields.map(({ field }) => field.name) ?? [];
    const fields = [...new Set(found)];
    const [first = 'other', ...more] = fields.filter((field) => !field.startsWith('__'));
    const named = { type: operation.operation, fields, label: more.length === 0 ? first : 'several' };
    known.set(operation, named);
    return named;
  }

  const traced =
    (spans: Tracer): NonNullable<Plugin['onExecute']> =>
    ({ args, executeFn, setExecuteFn }) => {
      const { document, operationName } = args as { document: DocumentNode; operationName?: string };
      const named = nameOf(document, operationName);
      if (!named) return;
      const facts = { 'graphql.operation.type': named.type, 'keyfront.graphql.fields': named.fields };
      setExecuteFn((given) => spans.within(`GraphQL ${named.type}`, facts, () => executeFn(given) as Promise<unknown>));
    };

  return {
    onValidate({ params, context }) {
      const { requestContext, params: asked } = context as typeof context & ServerContext;
      const named = nameOf(params.documentAST as DocumentNode, asked.operationName);
      if (named) requestContext.record.operation = named.label;
    },
    ...(tracer && { onExecute: traced(tracer) }),
    onResultProcess({ result, serverContext: { requestContext } }) {
      const errors = ('errors' in result && result.errors) || [];
      if (errors.length === 0) return;
      requestContext.record.verdict = verdictOf(errors);
      if (errors.some(isBeyondLimits)) meter?.refused('limits');
    },
  };
}

/** One verdict for an answer with several errors: the one that concerns whoever runs the service, else the first. */
function verdictOf(errors: readonly GraphQLError[]): ErrorCode {
  const codes = errors.map(({ extensions }) => errorCodes.find((code) => code === extensions['code']) ?? 'INTERNAL');
  return serious.find((code) => codes.includes(code)) ?? codes[0] ?? 'INTERNAL';
}

const serious: readonly ErrorCode[] = ['INTERNAL', 'UNAVAILABLE'];

/** Whether an operation was refused for its own size, before it was looked into. */
function isBeyondLimits({ extensions: { issues } }: GraphQLError): boolean {
  const isOfLimits = ({ path, code }: { path?: unknown; code?: string }) =>
    path === 'query' && code?.startsWith('TOO_');
  return Array.isArray(issues) && issues.some(isOfLimits);
}
