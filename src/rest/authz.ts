import { requirePrincipal } from '../credentials/credential.js';
import { errorResponse, isPublicError } from '../http/error-response.js';
import type { RequestContext } from '../http/request-context.js';
import { jsonResponse, type HTTPResponse } from '../http/response.js';
import type { Handler, Route } from '../http/router.js';
import { accessCodes, type AccessCode } from '../keys/access/decide-access.js';
import type { KeyService } from '../keys/key-service.js';
import { createReadBudget } from '../keys/read-budget.js';
import type { Verification } from '../keys/verify.js';
import { errorCodeOf, type ErrorCode } from '../lib/errors.js';
import { unixSeconds } from '../lib/int64.js';
import {
  forwardedRequest,
  gatewayRequestID,
  parseAuthzOptions,
  prefixedRequest,
  sentKeyID,
  type AuthzOptions,
  type KeyPlace,
  type OriginalRequest,
} from './authz-request.js';

interface AuthzDeps {
  readonly keys: Pick<KeyService, 'verifyKey'>;
  readonly now: () => Date;
}

/** The operation in logs and metrics. */
export const authzOperation = 'authz';

/** The path below which gateways add the path of their request. */
const prefix = '/authz/envoy/**';

/** The status for each decision. Gateways send it to their client. */
const statuses: Record<AccessCode, 200 | 401 | 403 | 429> = {
  NOT_FOUND: 401,
  DELETED: 401,
  EXPIRED: 401,
  OTHER_CREDENTIAL_REQUIRED: 401,
  INACTIVE: 403,
  UNKNOWN_POLICY: 403,
  NO_ACCESS: 403,
  METHOD_OR_PATH_DENIED: 403,
  QUOTA_EXCEEDED: 429,
  VALID: 200,
};

/** The verdict in logs and metrics. */
const verdicts = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN', 429: 'RATE_LIMITED' } as const;

/**
 * Codes for the credential of the gateway. Their own statuses would tell the client of the gateway that its key is wrong, or
 * let a gateway pass everything that treats errors of the service as permission.
 */
const gatewayRejections: readonly ErrorCode[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED'];

/** Creates the routes by which gateways ask about each request. They throw errors that are not meant for clients. */
export function createAuthzRoutes({ keys, now }: AuthzDeps): Route[] {
  async function respond(request: RequestContext, options: AuthzOptions, original: OriginalRequest) {
    // The `Authorization` is that of the client, and may be anything.
    const principal = requirePrincipal(await request.principal(['service']), 'service');
    const caller = { ...principal, requestID: request.id, reads: createReadBudget() };
    const { api, version, amount, hasRequestID } = options;
    const { method, path } = original;
    const verification = await keys.verifyKey(caller, {
      keyID: sentKeyID(options.key, request.headers, original) ?? '',
      api,
      version,
      method,
      path,
      amount,
      idempotencyKey: hasRequestID ? gatewayRequestID(request.headers) : undefined,
    });
    const status = statuses[verification.code];
    if (status === 200) return { status, headers: headersOf(verification, options), body: null };
    request.record.verdict = verdicts[status];
    return denial(request.id, status, verification, options.key);
  }

  /** The response to a request that is denied. */
  function denial(requestID: string, status: 401 | 403 | 429, { code, quota }: Verification, key: KeyPlace) {
    const seconds = quota?.renewsAt === undefined ? undefined : quota.renewsAt - unixSeconds(now());
    return jsonResponse({ status: 'error', message: accessCodes[code], code, request_id: requestID }, status, {
      'x-key-code': code,
      ...(status === 401 && { 'www-authenticate': challengeOf(key) }),
      ...(status === 429 && seconds !== undefined && { 'retry-after': String(seconds > 1n ? seconds : 1n) }),
    });
  }

  const handled =
    (serve: (request: RequestContext, rest: string) => Promise<HTTPResponse>): Handler =>
    async (request, rest) => {
      request.record.operation = authzOperation;
      try {
        return await serve(request, rest);
      } catch (error) {
        request.record.verdict = errorCodeOf(error);
        if (!isPublicError(error) || !gatewayRejections.includes(error.code)) throw error;
        const { headers, ...response } = errorResponse(error, request.id, { status: 403 });
        // A challenge would ask the client for the credential of the gateway.
        const { 'www-authenticate': _challenge, ...others } = headers;
        return { ...response, headers: others };
      }
    };

  return [
    {
      path: '/authz',
      method: '*',
      handle: handled((request) =>
        respond(request, parseAuthzOptions(request.query), forwardedRequest(request.headers)),
      ),
    },
    {
      path: prefix,
      method: '*',
      handle: handled((request, rest) => {
        const [options, original] = prefixedRequest(request, rest);
        return respond(request, parseAuthzOptions(options), original);
      }),
    },
  ];
}

/** The headers of a permission. Each is always there, so that one of the client never reaches the upstream in its place. */
function headersOf(
  { code, keyHash = '', orgID = '', alias = '', limits: { rate = -1, per = -1 }, quota }: Verification,
  { hasAlias }: AuthzOptions,
): Record<string, string> {
  return {
    'x-key-code': code,
    'x-key-hash': keyHash,
    'x-key-org': encodeURIComponent(orgID),
    'x-key-remaining': String(quota?.remaining ?? -1n),
    'x-key-renews': String(quota?.renewsAt ?? -1n),
    'x-key-rate': String(rate),
    'x-key-per': String(per),
    ...(hasAlias && { 'x-key-alias': encodeURIComponent(alias) }),
  };
}

function challengeOf(key: KeyPlace): string {
  if (key.kind === 'bearer') return 'Bearer realm="api"';
  if (key.kind === 'basic') return 'Basic realm="api"';
  return key.kind === 'header' ? `ApiKey realm="api", header="${key.name}"` : 'ApiKey realm="api"';
}
