import { defaultFieldResolver, OperationTypeNode, type GraphQLSchema } from 'graphql';
import type { AuthContext } from '../credentials/credential.js';
import type { AuditLog } from '../keys/ports.js';
import { isAudited } from '../keys/audit.js';
import type { Context } from './context.js';
import { rootFieldsOf, type RequestedOperation } from './operation/root-fields.js';

/** Writes mutations that were rejected before the domain to the audit log; the domain writes all others. */
export function withAuditLog(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const resolve = field.resolve ?? defaultFieldResolver;
    field.resolve = async (source: unknown, args: Record<string, unknown>, context: Context, info) => {
      try {
        return await resolve(source, args, context, info);
      } catch (error) {
        if (!isAudited(error)) {
          const keyID = typeof args['keyID'] === 'string' ? args['keyID'] : undefined;
          const keyHash = context.keys.tryHashKeyID(keyID);
          context.audit({ operation: field.name, keyHash, ...auditFieldsOf(context), outcome: { error } });
        }
        throw error;
      }
    };
  }
  return schema;
}

interface AuditedRequest {
  readonly requestID: string;
  readonly holder: AuthContext;
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

function auditFieldsOf({ requestID, holder: { service: principal } }: AuditedRequest) {
  return { requestID, principal };
}
