import type { AcceptedAttempt, AuditLog, CallContext } from './ports.js';

const auditedErrors = new WeakSet<Error>();

/** Whether the error, or one of its causes, is already in the audit log. Other errors were thrown before the domain. */
export function isAudited(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return auditedErrors.has(error) || isAudited(error.cause);
}

interface AuditedOperation<Request, KeyHash extends string | undefined, Result> {
  /** Name in the audit log. */
  readonly operation: string;
  /** Checks and hashes the key identifier of a request; undefined if the key has none yet. */
  readonly identify: (request: Request) => KeyHash;
  readonly run: (caller: CallContext, keyHash: KeyHash, request: Request) => Promise<Result>;
  readonly acceptedOf: (result: Result) => AcceptedAttempt & { readonly keyHash?: string };
}

/** Returns the operation with an audit event for each attempt, accepted or rejected. */
export function withAudit<Request, KeyHash extends string | undefined, Result>(
  audit: AuditLog | undefined,
  { operation, identify, run, acceptedOf }: AuditedOperation<Request, KeyHash, Result>,
): (caller: CallContext, request: Request) => Promise<Result> {
  return async (caller, request) => {
    const attempt = { operation, requestID: caller.requestID, principal: caller };
    let identified: KeyHash | undefined;
    try {
      identified = identify(request);
      const result = await run(caller, identified, request);
      const { keyHash = identified, ...outcome } = acceptedOf(result);
      audit?.({ ...attempt, keyHash, outcome });
      return result;
    } catch (error) {
      audit?.({ ...attempt, keyHash: identified, outcome: { error } });
      if (error instanceof Error) auditedErrors.add(error);
      throw error;
    }
  };
}
