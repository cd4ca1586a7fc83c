import { isUnsupported } from '../body.js';
import { demand, type Asking, type Authenticate, type CredentialKind, type Holder } from '../credential.js';
import { AppError, codeOf } from '../errors.js';
import { isTold, type Audit } from '../keys/attempts.js';
import type { Caller } from '../keys/ports.js';
import { createReadBudget } from '../keys/read-budget.js';
import type { KeyService } from '../keys/service.js';
import type { Logger } from '../log.js';
import type { Seen } from '../watch.js';
import { errorResponse, methodRefused } from './errors.js';
import { staleStatus, unsupportedStatus, type Call, type Route } from './route.js';
import { routes } from './routes.js';

interface Parts extends Pick<Call, 'nextSlice'> {
  readonly keys: KeyService;
  readonly authenticate: Authenticate;
  readonly audit: Audit;
  readonly log: Logger;
}

/** What the server knows of a request before it is read. */
type From = Omit<Asking, 'headers'> & { readonly seen?: Seen };

/** Answers every path that is none of another face's: the key API's routes, else 404 or 405. */
export function createRESTFace({ keys, authenticate, audit, log, nextSlice }: Parts) {
  return async (request: Request, target: string, { seen, ...from }: From): Promise<Response> => {
    const { requestID } = from;
    const [path = '', query = ''] = target.split(/\?(.*)/s);
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
    if (seen) {
      seen.operation = match.route.operation;
      seen.route = match.route.path;
    }
    let caller: Caller | undefined;
    try {
      const holder = await authenticate({ headers: request.headers, ...from });
      caller = callerOf(holder, match.route.credential, requestID);
      return await match.route.answer({ request, caller, keys, wildcard: match.wildcard, query, nextSlice });
    } catch (error) {
      if (seen) seen.verdict = codeOf(error);
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
function closerStatus(error: unknown, request: Request): number | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'CONFLICT' && request.headers.has('if-match')) return staleStatus;
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
