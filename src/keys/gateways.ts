import { AppError, type Issue } from '../lib/errors.js';
import { isForeign, otherOrganization, requireScope } from './authorization.js';
import { withAudit } from './change.js';
import type { Deployment, Gateway, GatewayID, GatewayQuery } from './gateway-store.js';
import { orgIDProblem } from './key-id.js';
import type { CallContext, Ports } from './ports.js';
import type { StoredKey } from './key.js';

/** A name that is readable and needs no escaping in a command, a file name or a URL. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const digestPattern = /^[0-9a-f]{64}$/;
/** A cursor of the feed has at most about 70 characters. */
const maxCursorLength = 200;

/** How many names one request may select. */
export const maxNames = 100;

/** Names a gateway. A credential of an organization names those of its organization. */
export interface GatewayReference {
  readonly gateway: string;
  readonly orgID?: string | undefined;
}

/** What an adapter says that its gateway has. */
export interface AcknowledgeRequest extends GatewayReference {
  readonly cursor?: string | undefined;
  readonly digest?: string | undefined;
}

/** A page of the digest of all keys at a cursor. */
export interface KeyDigestRequest {
  readonly orgID?: string | undefined;
  readonly cursor: string;
  /** The `end` of the page before. */
  readonly after?: bigint | undefined;
}

/** What gateways have: adapters acknowledge it, others ask for it. */
export function createGateways({ gateways, now, nextSlice, audit }: Ports) {
  const acknowledgeChanges = async (caller: CallContext, request: AcknowledgeRequest) => {
    requireScope(caller, 'deliver');
    const { cursor, digest } = request;
    const id = gatewayOf(caller, request, [
      ...(cursor !== undefined && cursor.length > maxCursorLength
        ? [issue('cursor', 'must be a cursor of the change feed')]
        : []),
      ...(digest !== undefined && !digestPattern.test(digest)
        ? [issue('digest', 'must be 64 hex digits in lower case')]
        : []),
      ...(digest !== undefined && cursor === undefined ? [issue('digest', 'must be omitted without a cursor')] : []),
    ]);
    const isNew = await gateways.acknowledge({ ...id, cursor, digest, at: now() });
    return { id, isNew };
  };

  return {
    /**
     * Records what a gateway has. The audit log has the first acknowledgement of a gateway, and what is rejected; the others
     * are traffic.
     *
     * @throws {AppError} FORBIDDEN without the scope `deliver`, or for another organization; INVALID for a name, a cursor or
     * a digest that is not valid; CONFLICT above 1,000 gateways.
     */
    acknowledgeChanges: withAudit(audit, {
      event: 'delivery',
      operation: 'acknowledgeChanges',
      identify: (_: AcknowledgeRequest) => undefined,
      run: (caller, _, request) => acknowledgeChanges(caller, request),
      acceptedOf: ({ id, isNew }) => ({
        orgID: id.orgID,
        gateway: id.name,
        isTraffic: !isNew,
      }),
    }),
    /**
     * Removes a gateway that is gone.
     *
     * @throws {AppError} FORBIDDEN without the scope `update`, or for another organization; NOT_FOUND if there is none.
     */
    forgetGateway: withAudit(audit, {
      operation: 'forgetGateway',
      identify: (_: GatewayReference) => undefined,
      run: async (caller, _, request) => {
        requireScope(caller, 'update');
        const id = gatewayOf(caller, request);
        if (!(await gateways.forget(id))) throw noGateway();
        return id;
      },
      acceptedOf: ({ orgID, name }) => ({ orgID, gateway: name }),
    }),
    /**
     * Lists the gateways that have keys of an organization, or all. A credential of an organization sees those that have keys
     * of it, also the ones with the keys of all organizations.
     *
     * @throws {AppError} FORBIDDEN without the scope `read`; INVALID for too many names.
     */
    async gateways(caller: CallContext, { orgID = caller.orgID, ...query }: GatewayQuery): Promise<Gateway[]> {
      requireScope(caller, 'read');
      requireNames(query.names);
      return isForeign(caller, orgID) ? [] : gateways.list({ ...query, orgID }, now());
    },
    /**
     * Returns what gateways have of each of these keys, which the caller can see.
     *
     * @throws {AppError} FORBIDDEN without the scope `read`; INVALID for too many names.
     */
    async deploymentsOf(
      caller: CallContext,
      keys: readonly StoredKey[],
      query: Omit<GatewayQuery, 'orgID'>,
    ): Promise<Deployment[][]> {
      requireScope(caller, 'read');
      requireNames(query.names);
      return gateways.deployments(keys, query);
    },
    /**
     * Returns what gateways have of a key that the caller can see: at first, and when it has changed; ends when all are
     * current, or the signal is aborted.
     *
     * @throws {AppError} FORBIDDEN without the scope `read`; INVALID for too many names or none; NOT_FOUND for a key or a
     * gateway that is not there, or no longer.
     */
    async deploymentsAsTheyChange(
      caller: CallContext,
      find: () => Promise<StoredKey | undefined>,
      names: readonly string[],
      signal: AbortSignal,
    ): Promise<AsyncGenerator<readonly Deployment[], void>> {
      requireScope(caller, 'read');
      requireNames(names);
      if (names.length === 0) throw invalid([issue('gateways', 'must have at least one name')]);
      const read = async () => {
        const key = await find();
        if (!key) throw new AppError('NOT_FOUND', 'There is no such key.');
        // Two gateways can have a name: that of the organization of the key, and that of all.
        const [found = []] = await gateways.deployments([key], { names, limit: 2 * names.length });
        if (names.some((name) => found.every((one) => one.name !== name))) throw noGateway();
        return found;
      };
      return untilCurrent(await read(), read, signal);
    },
    /**
     * Returns a part of the digest of all keys as a complete copy has them at a cursor, as 64 hex digits. The sum of all
     * parts modulo 2^256 is comparable with the digest that a gateway has acknowledged.
     *
     * @throws {AppError} FORBIDDEN without the scope `read`, or for another organization; INVALID for a cursor of another
     * database.
     */
    async keyDigest(caller: CallContext, { orgID = caller.orgID, cursor, after = -1n }: KeyDigestRequest) {
      requireScope(caller, 'read');
      if (isForeign(caller, orgID)) throw otherOrganization();
      let [total, count] = [0n, 0];
      let last: bigint | undefined = after;
      for (let reads = 0; reads < readsOfDigest && last !== undefined; reads += 1) {
        await nextSlice();
        const { sum, keys, end } = await gateways.digest({ orgID, cursor, after: last }, caller.reads);
        total = (total + sum) % modulus;
        count += keys;
        last = end;
      }
      return { digest: total.toString(16).padStart(64, '0'), keys: count, end: last };
    },
  };
}

/** Digests are added modulo this. */
const modulus = 1n << 256n;

/** A page of the digest reads so many pages of the database, of 500 keys each. */
const readsOfDigest = 20;

/**
 * Returns what the request names.
 *
 * @throws {AppError} FORBIDDEN for another organization; INVALID with the path of each argument that is not valid.
 */
function gatewayOf(
  caller: CallContext,
  { gateway, orgID = caller.orgID }: GatewayReference,
  others: readonly Issue[] = [],
): GatewayID {
  const ofName = gatewayNameProblem(gateway);
  const ofOrg = orgID === undefined ? undefined : orgIDProblem(orgID);
  const issues = [
    ...(ofName === undefined ? [] : [issue('gateway', ofName)]),
    ...(ofOrg === undefined ? [] : [issue('orgID', ofOrg)]),
    ...others,
  ];
  if (issues.length > 0) throw invalid(issues);
  if (isForeign(caller, orgID)) throw otherOrganization();
  return { orgID, name: gateway };
}

/** Why a gateway cannot have this name; undefined if it can. */
export function gatewayNameProblem(name: string): string | undefined {
  return namePattern.test(name) ? undefined : nameProblem;
}

const nameProblem =
  'must have 1 to 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit';

function issue(name: string, message: string): Issue {
  return { path: [name], code: 'MALFORMED_ARGUMENT', message };
}

function requireNames(names: readonly string[] | undefined): void {
  if (names === undefined || names.length <= maxNames) return;
  throw invalid([issue('gateways', `must have at most ${maxNames} names`)]);
}

function invalid(issues: readonly Issue[]): AppError {
  return new AppError('INVALID', 'The request is not valid.', { issues });
}

function noGateway(): AppError {
  return new AppError('NOT_FOUND', 'There is no such gateway.');
}

/** The interval at which deployments are read again, in milliseconds. */
const pollMs = 500;

async function* untilCurrent(
  first: readonly Deployment[],
  read: () => Promise<readonly Deployment[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly Deployment[], void> {
  let seen: string | undefined;
  for (let found = first; !signal.aborted; found = await read()) {
    // The time of the last acknowledgement changes without a change of the key.
    const state = JSON.stringify(found.map(({ name, orgID, version, isCurrent }) => [name, orgID, version, isCurrent]));
    if (state !== seen) yield found;
    seen = state;
    if (found.every(({ isCurrent }) => isCurrent)) return;
    await wait(pollMs, signal);
  }
}

/** As that of `node:timers/promises`: the domain imports nothing of Node. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
