import { requirePrincipal, type CredentialKind, type AuthContext } from '../credentials/credential.js';
import type { RequestContext } from '../http/request-context.js';
import type { Deadline } from './operation/deadline.js';
import type { Loaders } from './dataloaders.js';
import type { ChangeDeadline } from '../keys/change-deadline.js';
import type { AuditLog, Caller } from '../keys/ports.js';
import type { ReadBudget } from '../keys/read-budget.js';
import type { KeyService } from '../keys/key-service.js';

/** What Yoga passes to every plugin and resolver beside its own members. */
export interface ServerContext {
  readonly requestContext: RequestContext;
}

/** What a resolver knows: the services, and who asks. */
export interface Context extends ServerContext {
  readonly requestID: string;
  readonly clientAddress: string | undefined;
  readonly keys: KeyService;
  readonly audit: AuditLog;
  readonly holder: AuthContext;
  readonly loaders: Loaders;
  /** What the operation may read. */
  readonly reads: ReadBudget;
  /** A new budget, and loaders that take it: for each event of a subscription. */
  readonly renewReads: () => Pick<Context, 'loaders' | 'reads'>;
  /**
   * Verifies the service credential of the request again.
   *
   * @throws {AppError} UNAUTHENTICATED when it is not valid any more.
   */
  readonly revalidate: () => Promise<void>;
  /** Begins an answer that goes on until the signal is aborted. Throws where the credential has too many of them. */
  readonly openStream: (credentialID: string) => AbortSignal;
  /** Awaited before work that may take milliseconds: undefined while this iteration of the event loop has time for it. */
  readonly nextSlice: () => Promise<void> | undefined;
  /** The time limit of an operation with mutations. */
  readonly deadline?: Deadline;
  /** The same for the one mutation that runs. */
  readonly changeDeadline?: ChangeDeadline;
}

/** The caller behind the credential of the given kind. Throws UNAUTHENTICATED where the request holds none. */
export function callerOf(
  { holder, requestID, changeDeadline, reads }: Pick<Context, 'holder' | 'requestID' | 'changeDeadline' | 'reads'>,
  kind: CredentialKind,
): Caller {
  const { id, label, orgID } = requirePrincipal(holder, kind);
  return { credentialID: id, label, orgID, requestID, reads, ...(changeDeadline && { deadline: changeDeadline }) };
}
