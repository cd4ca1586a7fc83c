import { isUnsupported } from '../http/body.js';
import { demand, type CredentialKind, type Holder } from '../credential.js';
import { AppError, codeOf } from '../lib/errors.js';
import type { RequestContext } from '../http/request-context.js';
import type { Audit, Caller } from '../keys/ports.js';
import { isTold } from '../keys/attempts.js';
import { createReadBudget } from '../keys/read-budget.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../lib/log.js';
import { errorResponse, methodRefused } from './errors.js';
import { staleStatus, unsupportedStatus, type Call, type Route } from './route.js';
import { routes } from './routes.js';

interface Parts extends Pick<Call, 'nextSlice'> {
  readonly keys: KeyService;
  readonly audit: Audit;
  readonly log: Logger;
}

/** Answers every path that is none of another face's: the key API's routes, else 404 or 405. */
export function createRESTFace({ keys, audit, log, nextSlice }: Parts) {
  return async (request: RequestContext): Promise<Response> => {
    const { id: requestID, record } = request;
    const [path = '', query = ''] = request.target.split(/\?(.*)/s);
    const found = routes.flatMap((route) => {
      const wildcard = matched(route.path, path);
      return wildcard === undefined ? [] : [{ route, wildcard }];
    });
    // HEAD asks what GET would answer; its body is left out on the way.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const match = found.find(({ route }) => route.method === method);
    if (!match) {
      if (found.length === 0) {
        return errorResponse(new AppError('NOT_FOUND', 'There is nothing at this path.'), requestID);
      }
      const allow = found.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
      return methodRefused(allow.join(', '), requestID);
    }
    record.operation = match.route.operation;
    record.route = match.route.path;
    let caller: Caller | undefined;
    try {
      caller = callerOf(await request.principal(), match.route.credential, requestID);
      return await match.route.answer({ request, caller, keys, wildcard: match.wildcard, query, nextSlice });
    } catch (error) {
      record.verdict = codeOf(error);
      if (isChange(match.route) && !isTold(error)) {
        const keyHash = keys.hashOf(decoded(match.wildcard));
        audit({ operation: match.route.operation, requestID, caller, keyHash, outcome: { error } });
      }
      if (!(error instanceof AppError) || error.code === 'INTERNAL') {
        log.error({ requestID, err: error }, 'internal error');
      }
      return errorResponse(error, requestID, closerStatus(error, request), undefined, match.route.credential);
    }
  };
}

/** Whether a route writes. */
function isChange({ method, operation }: Route): boolean {
  return method !== 'GET' && operation !== 'previewKey';
}

function decoded(wildcard: string): string | undefined {
  try {
    return decodeURIComponent(wildcard);
  } catch {
    return undefined;
  }
}

/** The status of an error where HTTP has one that says more than the code's own. */
function closerStatus(error: unknown, request: RequestContext): number | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'CONFLICT' && request.headers.get('if-match') !== null) return staleStatus;
  return isUnsupported(error) ? unsupportedStatus : undefined;
}

/** What `*` stands for in the path; empty where the pattern has none, undefined where the path does not match. */
function matched(pattern: string, path: string): string | undefined {
  const [prefix = '', suffix] = pattern.split('*');
  if (suffix === undefined) return pattern === path ? '' : undefined;
  const rest = path.slice(prefix.length, path.length - suffix.length);
  const fits = path.startsWith(prefix) && path.endsWith(suffix) && path.length > prefix.length + suffix.length;
  return fits && !rest.includes('/') ? rest : undefined;
}

function callerOf(holder: Holder, kind: CredentialKind, requestID: string): Caller {
  const { id, label, orgID } = demand(holder, kind);
  return { credentialID: id, label, orgID, requestID, reads: createReadBudget() };
}
