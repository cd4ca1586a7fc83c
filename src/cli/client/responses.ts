import * as z from 'zod';
import { decimalStringOf } from '../../keys/definition/decimal-strings.js';
import { actorOf } from '../../keys/actor.js';
import { changeKinds } from '../../keys/key.js';
import { parsePath } from '../input.js';
import { toAppError, type SendRequest } from './connection.js';

/*
 * What every command sends to the GraphQL API of a service, and reads from it.
 */

/** Sends a document. @throws {AppError} the first error of the response, or that of a busy service. */
export async function query<T>(
  send: SendRequest,
  document: string,
  variables: object,
  schema: z.ZodType<T>,
): Promise<T> {
  const response = await send('/graphql', { query: document, variables }, document.startsWith('mutation'));
  if (response['status'] === 'error') throw toAppError(response);
  const [error] = Array.isArray(response['errors']) ? (response['errors'] as unknown[]) : [];
  if (error !== undefined) {
    const { message, extensions } = Object(error) as Record<string, unknown>;
    throw toAppError({ ...Object(extensions), message });
  }
  return parseAs(schema, response['data']);
}

/** @throws {Error} unless the value has this form */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new Error('Unexpected response. Is the URL the base address of a Keyfront service of the same version?', {
    cause: error,
  });
}

/** Integers beyond 2^53-1 are decimal strings in GraphQL. */
export function withDecimalStrings(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return decimalStringOf(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withDecimalStrings);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withDecimalStrings(member)]));
}

/** Large integers arrive as a bigint from the JSON parser, or as a string of digits from GraphQL. */
export const Int64 = z.union([z.number(), z.bigint(), z.string().regex(/^-?\d+$/)]).transform(BigInt);
/** A time, as Unix seconds. */
export const DateTime = z.iso.datetime().transform((text) => BigInt(Date.parse(text) / 1000));
/** Null and absent as undefined. */
export const nullable = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
/** A path as text. */
export const Path = z.string().transform(parsePath);

/** A field that differs. */
export const Change = z
  .object({ path: Path, kind: z.enum(keysOf(changeKinds)), before: z.unknown(), after: z.unknown() })
  .transform(({ path, kind, before = null, after = null }) => {
    // GraphQL returns null for a value that is absent. Both values of a secret are.
    const isSecret = before === null && after === null && kind !== 'ADDED' && kind !== 'REMOVED';
    return {
      path,
      kind,
      ...(!isSecret && kind !== 'ADDED' && { before }),
      ...(!isSecret && kind !== 'REMOVED' && { after }),
    };
  });

/** A page of a list; `next` is the cursor of the page after it. */
interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly next: string | undefined;
}

/** A page with these nodes, of a field that selects `pageInfo { hasNextPage endCursor } edges { node }`. */
export const pageOf = <T>(node: z.ZodType<T>) =>
  z
    .object({
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: nullable(z.string()) }),
      edges: z.array(z.object({ node })),
    })
    .transform(({ pageInfo, edges }): Page<T> => {
      return { nodes: edges.map((edge) => edge.node), next: pageInfo.hasNextPage ? pageInfo.endCursor : undefined };
    });

/** Reads the pages of a list until it has `limit` nodes. `read` gets the cursor, and how many nodes are wanted. */
export async function readPages<Node>(
  read: (after: string | undefined, wanted: number) => Promise<Page<Node>>,
  limit = Infinity,
): Promise<Node[]> {
  const found: Node[] = [];
  let after: string | undefined;
  do {
    const { nodes, next } = await read(after, limit - found.length);
    found.push(...nodes);
    after = next;
  } while (after !== undefined && found.length < limit);
  return found;
}

/** Who made a change. */
export const ActorResponse = z
  .object({
    credentialID: z.string(),
    label: z.string(),
    client: nullable(z.string()),
    assertedName: nullable(z.string()),
  })
  .transform(actorOf);

export function keysOf<T extends string>(table: Readonly<Record<T, string>>): T[] {
  return Object.keys(table) as T[];
}
