import { requirePrincipal } from '../credentials/credential.js';
import { type AppError, errorCodeOf } from '../lib/errors.js';
import { withAssertedName } from '../http/actor-header.js';
import { isUnsupportedMediaType } from '../http/body.js';
import { errorResponse, isPublicError } from '../http/error-response.js';
import type { RequestContext } from '../http/request-context.js';
import type { Handler, Route as HTTPRoute } from '../http/router.js';
import { isAudited } from '../keys/change.js';
import type { AuditLog, CallContext } from '../keys/ports.js';
import { createReadBudget } from '../keys/read-budget.js';
import type { KeyService } from '../keys/key-service.js';
import {
  isChange,
  preconditionFailedStatus,
  unsupportedMediaTypeStatus,
  type RouteCall,
  type RouteDefinition,
} from './route.js';
import { withWireNames } from './json-body.js';
import { routes } from './routes.js';

interface RESTDeps extends Pick<RouteCall, 'nextStage'> {
  readonly keys: KeyService;
  readonly audit: AuditLog;
}

/** Creates the routes of the key API. They throw errors that are not meant for clients. */
export function createRESTRoutes({ keys, audit, nextStage }: RESTDeps): HTTPRoute[] {
  function handlerOf(route: RouteDefinition): Handler {
    return async (request, wildcard) => {
      const { id: requestID, record, query } = request;
      record.operation = route.operation;
      let caller: CallContext | undefined;
      let call: RouteCall | undefined;
      try {
        const principal = requirePrincipal(await request.principal(), route.credential);
        caller = { ...principal, requestID, reads: createReadBudget() };
        if (isChange(route)) caller = withAssertedName(caller, request.headers);
        call = { request, caller, keys, wildcard, query, nextStage };
        return await route.handle(call);
      } catch (error) {
        record.verdict = errorCodeOf(error);
        if (isChange(route) && !isAudited(error)) {
          const keyID = decodeSegment(wildcard);
          const keyHash = keyID === undefined ? undefined : keys.tryHashOf({ keyID });
          audit({ operation: route.operation, requestID, principal: caller, keyHash, outcome: { error } });
        }
        if (!isPublicError(error)) throw error;
        return errorResponse(inWireNames(error, call), requestID, {
          status: specificStatus(error, request),
          credential: route.credential,
        });
      }
    };
  }
  return routes.map((route) => ({ path: route.path, method: route.method, handle: handlerOf(route) }));
}

/** Issues of parameters and of malformed JSON have the client's names. Those of a definition or a conflict do not. */
function inWireNames(error: AppError, call: RouteCall | undefined): AppError {
  const { sentDefinition } = call ?? {};
  if (sentDefinition !== undefined) return withWireNames(error, sentDefinition);
  return error.code === 'CONFLICT' ? withWireNames(error, null) : error;
}

function decodeSegment(wildcard: string): string | undefined {
  try {
    return decodeURIComponent(wildcard);
  } catch {
    return undefined;
  }
}

/** Returns the status of an error for which HTTP has a more specific status than that of its code. */
function specificStatus(error: AppError, { headers }: RequestContext): number | undefined {
  const isOfRotation = error.issues.some(({ code }) => code === 'ROTATION_RUNNING' || code === 'NO_ROTATION');
  if (error.code === 'CONFLICT' && !isOfRotation && headers.get('if-match') !== null) return preconditionFailedStatus;
  return isUnsupportedMediaType(error) ? unsupportedMediaTypeStatus : undefined;
}
