import {
  requirePrincipal,
  type AuthContext,
  type Authenticator,
  type CredentialKind,
} from '../credentials/credential.js';
import type { CredentialService } from '../credentials/credential-service.js';
import type { RequestContext } from '../http/request-context.js';
import type { Deadline } from './execution/deadline.js';
import { createLoaders, type Loaders } from './dataloaders.js';
import type { AuditLog, CallContext } from '../keys/ports.js';
import { createReadBudget, type ReadBudget } from '../keys/read-budget.js';
import type { KeyService } from '../keys/key-service.js';
import type { WebhookService } from '../webhooks/webhook-service.js';

/** The part of Yoga's context that the server provides, for plugins and resolvers. */
export interface ServerContext {
  readonly requestContext: RequestContext;
}

/** The context of resolvers: the services, and the principals of the request. */
export interface Context extends ServerContext {
  readonly requestID: string;
  readonly clientAddress: string | undefined;
  readonly keys: KeyService;
  readonly credentials: CredentialService;
  readonly webhooks: WebhookService;
  readonly audit: AuditLog;
  readonly auth: AuthContext;
  readonly loaders: Loaders;
  /** Limits the time and the bytes that the operation may read. */
  readonly reads: ReadBudget;
  /**
   * Returns the principal of the service credential, for fields below the root.
   *
   * @throws {AppError} as `callerOf`.
   */
  readonly serviceCaller: () => CallContext;
  /** Creates a new budget and loaders that use it, for each event of a subscription. */
  readonly renewReads: () => Pick<Context, 'loaders' | 'reads' | 'serviceCaller'>;
  /**
   * Verifies the service credential of the request again.
   *
   * @throws {AppError} UNAUTHENTICATED when the credential is not valid any more.
   */
  readonly revalidate: () => Promise<void>;
  /**
   * Registers a subscription. Aborts the signal when the subscription must end.
   *
   * @throws {AppError} RATE_LIMITED when the credential has the maximum number of subscriptions; UNAVAILABLE when the
   * process has the maximum, or is stopping.
   */
  readonly registerSubscription: (credentialID: string) => AbortSignal;
  /** Awaited before work that may take milliseconds; undefined while the current tick of the event loop has time left. */
  readonly nextSlice: () => Promise<void> | undefined;
  /** The deadline of an operation with mutations. */
  readonly deadline?: Deadline;
}

/** What `createContext` needs. */
export interface ContextDeps
  extends
    Pick<Context, 'keys' | 'credentials' | 'webhooks' | 'audit' | 'nextSlice'>,
    Pick<Authenticator, 'revalidate'> {
  /** The deadline of one operation, in milliseconds. */
  readonly deadlineMs: number;
}

/** Creates the context of the resolvers of one operation. */
export function createContext(
  { keys, credentials, webhooks, audit, nextSlice, revalidate, deadlineMs }: ContextDeps,
  requestContext: RequestContext,
  auth: AuthContext,
): Context {
  const { id: requestID, clientAddress, headers } = requestContext;
  const renewReads = () => {
    const reads = createReadBudget(deadlineMs);
    const serviceCaller = () => callerOf({ auth, requestID, reads }, 'service');
    return { reads, serviceCaller, loaders: createLoaders({ keys, webhooks }, serviceCaller) };
  };
  return {
    requestContext,
    keys,
    credentials,
    webhooks,
    audit,
    nextSlice,
    requestID,
    clientAddress,
    auth,
    revalidate: () => revalidate('service', headers),
    registerSubscription: rejectSubscription,
    ...renewReads(),
    renewReads,
  };
}

function rejectSubscription(): never {
  throw new Error('Only a subscription operation registers a subscription.');
}

/**
 * Returns the principal of the credential of this kind, as the caller of the domain.
 *
 * @throws {AppError} UNAUTHENTICATED when the request has no such credential; RATE_LIMITED or UNAVAILABLE if
 * unverified.
 */
export function callerOf(
  { auth, requestID, reads }: Pick<Context, 'auth' | 'requestID' | 'reads'>,
  kind: CredentialKind,
): CallContext {
  return { ...requirePrincipal(auth, kind), requestID, reads };
}
