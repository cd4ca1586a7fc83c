import type { CredentialKind } from '../credentials/credential.js';
import type { ErrorCode } from '../lib/errors.js';
import type { JSONValue } from '../lib/json.js';
import type { NextStage } from '../lib/scheduler.js';
import type { RequestContext } from '../http/request-context.js';
import type { InputKind } from '../keys/definition/parse.js';
import type { CallContext } from '../keys/ports.js';
import type { KeyService } from '../keys/key-service.js';
import type { JSONSchema } from './openapi/json-schema.js';
import type { HTTPResponse } from '../http/response.js';

/** A request to a route, after its credential was verified. */
export interface RouteCall {
  readonly request: RequestContext;
  readonly caller: CallContext;
  readonly keys: KeyService;
  /** The path segment that matches `*`, still percent-encoded. */
  readonly wildcard: string;
  /** The raw query string without its question mark. */
  readonly query: string;
  /** The definition in the body, in the names of REST, once `readDefinition` has read it. */
  sentDefinition?: JSONValue;
  /** Waits until the request may go on to its next stage. */
  readonly nextStage: NextStage;
}

/** An example request and its response in the documentation. A test sends each request to the sample keys. */
export interface RouteExample {
  readonly summary: string;
  /** Values by parameter name. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** JSON text. */
  readonly body?: string;
  readonly status: number;
  /** JSON text. */
  readonly response: string;
  readonly etag?: string;
}

/** One operation of the key API: its route, its documentation, its examples and its handler. */
export interface RouteDefinition {
  /** The `operationId` of the documentation, and the name in logs and metrics. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `*` in place of the key identifier. */
  readonly path: string;
  readonly credential: CredentialKind;
  /** The error codes of this operation in addition to `commonErrors`. */
  readonly errors: readonly ErrorCode[];
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly JSONSchema[];
  /** The body: a definition of a variant, a patch of one, or another schema. `name` is that of the component. */
  readonly input?: { readonly name: string; readonly variant?: InputKind; readonly schema?: JSONSchema };
  readonly output: { readonly name: string; readonly members: JSONSchema; readonly optional?: JSONSchema };
  readonly success: string;
  /** Whether the response has the version of the key as its `ETag`. */
  readonly isVersioned?: true;
  /** Whether the response has the header `Quota-Reset` after a reset. */
  readonly mayReset?: true;
  /** Examples by name. A request and its response have the same name in the document. */
  readonly examples: Readonly<Record<string, RouteExample>>;
  readonly handle: (call: RouteCall) => Promise<HTTPResponse>;
}

/** Whether a route writes. */
export function isChange({ method, operation }: Pick<RouteDefinition, 'method' | 'operation'>): boolean {
  return method !== 'GET' && operation !== 'previewKey';
}

/** The groups of operations in the documentation, with their descriptions. */
export const tags = {
  Previews: 'Validate a key definition without storing anything.',
  Keys: 'Create, read, list, update, delete and restore the keys of organizations.',
  Quota: 'Verify keys for a gateway, and consume their live quotas.',
} as const;

/** One of {@link tags}. */
export type Tag = keyof typeof tags;

/** Keeps the name of an operation as a literal type. */
export function defineRoute<const Name extends string>(route: RouteDefinition & { readonly operation: Name }) {
  return route;
}

/** The error codes of every route. */
export const commonErrors: readonly ErrorCode[] = [
  'INVALID',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'TOO_LARGE',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

/** The status of CONFLICT for a request with `If-Match`. */
export const preconditionFailedStatus = 412;
/** The status of INVALID for a body whose headers do not declare JSON. */
export const unsupportedMediaTypeStatus = 415;
