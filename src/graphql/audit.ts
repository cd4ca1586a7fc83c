import { OperationTypeNode } from 'graphql';
import type { AuthContext } from '../credentials/credential.js';
import type { AuditLog } from '../keys/ports.js';
import { isAudited } from '../keys/change.js';
import type { Context } from './context.js';
import type { PreparedOperation } from './execution/operation-cache.js';

/** Writes a mutation that was rejected before the domain to the audit log; the domain writes all others. */
export function auditRejectedMutation(
  operation: string,
  args: Readonly<Record<string, unknown>>,
  context: Context,
  error: unknown,
): void {
  if (isAudited(error)) return;
  context.audit({ operation, keyHash: hashOfKey(args, context), ...auditFieldsOf(context), outcome: { error } });
}

function hashOfKey({ keyID, keyHash }: Readonly<Record<string, unknown>>, { keys }: Context): string | undefined {
  if (typeof keyID === 'string') return keys.tryHashOf({ keyID });
  return typeof keyHash === 'string' ? keys.tryHashOf({ keyHash }) : undefined;
}

interface AuditedRequest {
  readonly requestID: string;
  readonly auth: AuthContext;
}

/** Writes the mutations of an operation that was rejected before execution to the audit log. */
export function auditRejectedOperation(
  audit: AuditLog,
  { operation, rootFields }: Pick<PreparedOperation, 'operation' | 'rootFields'>,
  request: AuditedRequest,
  error: unknown,
): void {
  if (operation.operation !== OperationTypeNode.MUTATION) return;
  for (const { field } of rootFields) {
    audit({ operation: field.name, keyHash: undefined, ...auditFieldsOf(request), outcome: { error } });
  }
}

function auditFieldsOf({ requestID, auth: { service: principal } }: AuditedRequest) {
  return { requestID, principal };
}
