import { KeyfrontError } from '../client/client.js';

/** Whether an error may pass without a change of the request. */
export function isTransient(error: KeyfrontError | undefined): boolean {
  return error?.code === 'UNREACHABLE' || error?.code === 'UNAVAILABLE';
}

/** Returns the error of the service, or wraps an unexpected one. */
export function toKeyfrontError(error: unknown): KeyfrontError {
  if (error instanceof KeyfrontError) return error;
  return new KeyfrontError('INTERNAL', error instanceof Error ? error.message : String(error), { cause: error });
}

/** A page of a list of the API. What cannot be read is null. */
interface Connection<Node> {
  readonly edges: readonly ({ readonly node: Node | null } | null)[] | null;
}

/** The type of the nodes of a connection. */
export type NodeOf<Page extends Connection<unknown> | null | undefined> =
  NonNullable<Page> extends Connection<infer Node> ? Node : never;

/** Returns the nodes of a page that can be read. */
export function nodesOf<Node>(page: Connection<Node> | null | undefined): Node[] {
  return (page?.edges ?? []).flatMap((edge) => edge?.node ?? []);
}

/** Returns the result of a field, or throws the error because of which it is null. */
export function required<Value>(
  value: Value | null | undefined,
  errors: readonly KeyfrontError[],
  missing: string,
): Value {
  if (value != null) return value;
  throw errors[0] ?? new KeyfrontError('NOT_FOUND', missing);
}
