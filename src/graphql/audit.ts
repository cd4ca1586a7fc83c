import { OperationTypeNode, type GraphQLSchema } from 'graphql';
import type { AuthContext } from '../credentials/credential.js';
import type { AuditLog } from '../keys/ports.js';
import { isAudited } from '../keys/audit.js';
import type { Context } from './context.js';
import { rootFieldsOf, type RequestedOperation } from './execution/root-fields.js';

/** Writes a mutation that was rejected before the domain to the audit log; the domain writes all others. */
export function auditRejectedMutation(
  operation: string,
  args: Readonly<Record<string, unknown>>,
  context: Context,
  error: unknown,
): void {
  if (isAudited(error)) return;
  const keyID = typeof args['keyID'] === 'string' ? args['keyID'] : undefined;
  const keyHash = context.keys.tryHashKeyID(keyID);
  context.audit({ operation, keyHash, ...auditFieldsOf(context), outcome: { error } });
}

interface AuditedRequest {
  readonly requestID: string;
  readonly auth: AuthContext;
}

/** Writes the mutations of an operation that was rejected before execution to the audit log. */
export function auditRejectedOperation(
  audit: AuditLog,
  schema: GraphQLSchema,
  operation: RequestedOperation,
  request: AuditedRequest,
  error: unknown,
): void {
  const requested = rootFieldsOf(schema, operation);
  if (requested?.definition.operation !== OperationTypeNode.MUTATION) return;
  for (const { field } of requested.fields) {
    audit({ operation: field.name, keyHash: undefined, ...auditFieldsOf(request), outcome: { error } });
  }
}

function auditFieldsOf({ requestID, auth: { service: principal } }: AuditedRequest) {
  return { requestID, principal };
}
