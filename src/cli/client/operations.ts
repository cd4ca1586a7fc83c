import * as z from 'zod';
import type { KeyChange } from '../../keys/change.js';
import { keepStoredIntegers } from '../../keys/definition/decimal-strings.js';
import type { Definition } from '../../keys/definition/normalize.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import type { DefinitionPatch } from '../../keys/definition/patch.js';
import { freeFormFields } from '../../keys/definition/schema.js';
import { keyStates, type Actor, type FieldChange, type KeyRevision, type KeyState } from '../../keys/key.js';
import { noticeKinds, type KeyNotice } from '../../keys/notices.js';
import { entriesOf, positionOfEntry, type KeyFilter, type KeyOrder } from '../../keys/key-query.js';
import type { KeyService } from '../../keys/key-service.js';
import type { CallContext } from '../../keys/ports.js';
import type { KeyReference } from '../../keys/queries/read-keys.js';
import { resetStatuses, type ResetStatus } from '../../keys/quota/external-counters.js';
import { daysToText, lastUseOf, totalsOf, type RequestedDays, type Usage } from '../../keys/queries/read-use.js';
import type { QuotaFigures } from '../../keys/quota/quota.js';
import { dayText } from '../../keys/use/use.js';
import { AppError, errorCodeOf, type Issue } from '../../lib/errors.js';
import { isObject, stringifyJSON } from '../../lib/json.js';
import { withQuotas } from '../../rest/key-response.js';
import { definitionFromWire } from '../../wire/field-names.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import { toAppError, type SendRequest } from './connection.js';
import {
  ActorResponse,
  Change,
  DateTime,
  Int64,
  keysOf,
  nullable,
  parseAs,
  Path,
  query,
  withDecimalStrings,
} from './responses.js';

/*
 * The operations of the commands for keys. Each is declared once, with what it does in this process on the data folder and
 * what it sends to a service; `bindOperations` makes a client of one of the two. An operation in this process calls the
 * domain directly: starting the HTTP and GraphQL layers would make `keys get` take a fifth longer.
 *
 * Definitions, paths and issues use the names of the domain. An operation throws an `AppError` if the request is rejected,
 * and an `Error` if the service cannot be reached.
 */

/** Options of every change. */
export interface ChangeOptions {
  readonly expectedVersion?: number | undefined;
  readonly reason?: string | undefined;
}

/** Options of an update. */
export interface UpdateOptions extends ChangeOptions {
  readonly resetQuota: boolean;
}

/** Options of the dry run of an update. */
interface PreviewOptions extends UpdateOptions {
  /** Whether to preview the update of a deleted key too, as it would be after it is restored. */
  readonly includeDeleted?: boolean;
}

/** Options of a creation. */
interface CreateOptions extends Pick<ChangeOptions, 'reason'> {
  /** The beginning of a generated identifier. Default: the identifier of the organization. */
  readonly keyIDPrefix?: string | undefined;
}

/** The live quota of a key. */
export type LiveQuota = Pick<QuotaFigures, 'used' | 'remaining' | 'renewsAt'>;

/** What names a key, also a deleted one. */
export interface FoundKey {
  /** Not there if only the hash of the identifier is known. */
  readonly keyID?: string | null | undefined;
  readonly keyHash: string;
  readonly orgID: string;
  readonly version: number;
  readonly state: KeyState;
  readonly alias: string | undefined;
}

/** A stored key. The definition contains no secrets and no fields that the service sets. */
interface ReadKey extends Pick<FoundKey, 'keyHash' | 'version' | 'state'> {
  readonly definition: object;
  /** The live quota, which requests consume; undefined if its counter is unreachable. */
  readonly quota: LiveQuota | undefined;
}

/** The result of a change or of its preview. */
export interface KeyChangeResult {
  readonly keyHash: string;
  readonly version: number;
  /** False if the key has this definition already, and keeps its version. */
  readonly isChanged: boolean;
  readonly changes: readonly FieldChange[];
  /** Undefined if the live quota cannot be read. */
  readonly quotaEffect: { readonly before: QuotaFigures; readonly after: QuotaFigures } | undefined;
  /** Undefined if no reset was requested. */
  readonly quotaReset: ResetStatus | undefined;
  readonly warnings: readonly Issue[];
}

/** The result of a creation, with the identifier of the key. */
type CreatedKey = KeyChangeResult & { readonly keyID: string };

/** Options of a rotation. */
interface RotateOptions extends ChangeOptions {
  readonly overlapSeconds: number;
  readonly silenceSeconds: number | undefined;
  readonly keyIDPrefix: string | undefined;
}

/** The result of a rotation, with the new identifier. */
type RotatedKey = CreatedKey & {
  /** When the old identifier is rejected; undefined if it is already. */
  readonly retiresAt: string | undefined;
};

/** An entry in the history of a key. */
export interface KeyHistoryEntry {
  readonly version: number;
  readonly at: string;
  readonly operation: string;
  readonly revertedTo: number | undefined;
  readonly actor: Actor;
  readonly proposalID: string | undefined;
  readonly approvedBy: Actor | undefined;
  readonly reason: string | undefined;
  readonly requestID: string | undefined;
  readonly quotaUsedBeforeReset: bigint | undefined;
  readonly changes: readonly FieldChange[];
}

/** A key in a list. */
export interface ListedKey extends Omit<FoundKey, 'keyID'> {
  readonly tags: readonly string[];
  /** Unix seconds; undefined if the key never expires. */
  readonly expires: bigint | undefined;
  /** Unix seconds. */
  readonly lastUpdated: bigint;
  /** RFC 3339; undefined if it was never used. */
  readonly lastUsedAt: string | undefined;
  readonly quota: LiveQuota;
}

/** Requests by day. */
export interface UsageOf {
  readonly from: string;
  readonly to: string;
  readonly allowed: bigint;
  readonly denied: bigint;
  readonly days: readonly { readonly day: string; readonly allowed: bigint; readonly denied: bigint }[];
}

/** Selects a page of keys. */
export interface ListRequest {
  readonly filter: KeyFilter;
  readonly orderBy: KeyOrder;
  readonly descending?: boolean;
  readonly limit: number;
  /** The cursor to continue after. */
  readonly after?: string | undefined;
}

/** A page of a list of keys. */
interface KeyListPage {
  readonly keys: readonly ListedKey[];
  /** The hashes of the keys of the page that fail their integrity check. */
  readonly unreadable: readonly string[];
  /** Position to continue after; undefined on the last page. */
  readonly next: string | undefined;
}

/** The changes to follow; absent filters select all. */
export interface FollowRequest {
  readonly orgID: string | undefined;
  readonly keyHash: string | undefined;
  /** The cursor of the last change that was received. Undefined follows from now on, and begins with a cursor. */
  readonly after: string | undefined;
}

/** A notice about a key. */
export interface FollowedNotice extends Omit<KeyNotice, 'at'> {
  readonly at: string;
}

/** A change of a key, or a notice. Without either, it only advances the cursor. */
export interface FollowedChange {
  readonly cursor: string;
  readonly change: { readonly keyHash: string; readonly orgID: string; readonly entry: KeyHistoryEntry } | undefined;
  readonly notice: FollowedNotice | undefined;
  /** Whether this is a change that fails its integrity check. */
  readonly isUnreadable: boolean;
}

/** The domain in this process, and who calls it. */
export interface LocalPlace {
  readonly keys: KeyService;
  readonly caller: CallContext;
}

/** A service. */
export interface RemotePlace {
  readonly send: SendRequest;
  /** Yields the results of a subscription, across lost connections. */
  readonly subscribe: (document: string, variables: FollowRequest, signal: AbortSignal) => AsyncIterable<unknown>;
}

/** Where a client works. */
export type ClientPlace = { readonly local: LocalPlace } | { readonly remote: RemotePlace };

interface KeyOperation<Args extends readonly unknown[], Result> {
  readonly local: (place: LocalPlace, ...args: Args) => Result;
  readonly remote: (place: RemotePlace, ...args: Args) => Result;
}

const operation = <Args extends readonly unknown[], Result>(declared: KeyOperation<Args, Promise<Result>>) => declared;

/** Declares a change: the mutation that a service executes, and the command of the domain. */
function change<Args extends readonly unknown[]>(
  document: string,
  variablesOf: (...args: Args) => object,
  local: (place: LocalPlace, ...args: Args) => Promise<KeyChange>,
) {
  return operation<Args, KeyChangeResult>({
    local: async (place, ...args) => toResult(await local(place, ...args)),
    remote: async ({ send }, ...args) => (await query(send, document, variablesOf(...args), ChangeResponse)).change,
  });
}

const changed = 'changed changes { path kind before after }';
const figures = '{ max used remaining renewsAt }';
const effect = `${changed} quotaEffect { before ${figures} after ${figures} } warnings { path code message }`;
const result = `orgKey { keyHash } version ${effect}`;
const entry =
  '{ version at operation revertedTo actor { credentialID label client assertedName } proposalID approvedBy { credentialID label client assertedName } reason requestID quotaUsedBeforeReset changes { path kind before after } }';

const notice = 'eventID kind at version expiresAt daysBefore threshold quotaUsed quotaMax quotaRenewsAt proposalID';
const usage = '{ from to allowed denied days { day allowed denied } }';

/** The GraphQL documents. The identifier of a key is in the body of the request, which proxies do not log. */
export const documents = {
  find: `query Find($by: OrgKeyByInput!) {
    orgKey(by: $by, includeDeleted: true) { keyID keyHash orgID version state definition { alias } } }`,
  compare: `query Compare($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $includeDeleted: Boolean) {
    orgKey(by: { keyID: $keyID }, includeDeleted: $includeDeleted) { keyHash }
    change: previewOrgKeyUpdate(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion, includeDeleted: $includeDeleted) { version ${effect} quotaReset } }`,
  update: `mutation Update($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $reason: String) {
    change: updateOrgKey(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion, reason: $reason) { ${result} quotaReset } }`,
  create: `mutation Create($keyID: ID, $prefix: String, $input: CreateKeyInput!, $reason: String) {
    change: createOrgKey(keyID: $keyID, prefix: $prefix, input: $input, reason: $reason) { orgKey { keyID keyHash } version ${effect} } }`,
  patch: `mutation Patch($keyID: ID!, $patch: PatchKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $reason: String) {
    change: patchOrgKey(keyID: $keyID, patch: $patch, resetQuota: $resetQuota, expectedVersion: $expectedVersion, reason: $reason) { ${result} quotaReset } }`,
  revert: `mutation Revert($keyID: ID!, $toVersion: Int!, $expectedVersion: Int, $reason: String) {
    change: revertOrgKey(keyID: $keyID, toVersion: $toVersion, expectedVersion: $expectedVersion, reason: $reason) { ${result} } }`,
  delete: `mutation Delete($keyID: ID!, $expectedVersion: Int, $reason: String) {
    change: deleteOrgKey(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) { ${result} } }`,
  restore: `mutation Restore($keyID: ID!, $expectedVersion: Int, $reason: String) {
    change: restoreOrgKey(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) { ${result} } }`,
  rotate: `mutation Rotate($keyID: ID!, $overlap: Int, $silence: Int, $prefix: String, $expectedVersion: Int, $reason: String) {
    change: rotateOrgKey(keyID: $keyID, overlap: $overlap, silence: $silence, prefix: $prefix, expectedVersion: $expectedVersion, reason: $reason) {
      orgKey { keyID keyHash rotation { retiresAt } } version ${effect} } }`,
  cancelRotation: `mutation CancelRotation($keyID: ID!, $expectedVersion: Int, $reason: String) {
    change: cancelKeyRotation(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) { ${result} } }`,
  history: `query History($keyID: ID!, $limit: Int!) {
    orgKey(by: { keyID: $keyID }, includeDeleted: true) { history(last: $limit) { edges { node ${entry} } } } }`,
  usage: `query Usage($keyID: ID!, $from: String, $to: String) {
    orgKey(by: { keyID: $keyID }, includeDeleted: true) { usage(from: $from, to: $to) ${usage} } }`,
  usageOfOrg: `query UsageOfOrg($orgID: ID!, $from: String, $to: String) {
    organization(id: $orgID) { usage: keyUsage(from: $from, to: $to) ${usage} } }`,
  follow: `subscription Follow($orgID: String, $keyHash: String, $after: String) {
    orgKeyChanged(orgID: $orgID, keyHash: $keyHash, after: $after) { cursor ... on OrgKeyChanged { keyHash orgID entry ${entry} } ... on OrgKeyNoticed { keyHash orgID notice { ${notice} } } } }`,
} as const;

const keyVariables = (keyID: string, options: ChangeOptions) => ({ keyID, ...options });

/** Every operation. */
const operations = {
  /** Returns the hash of an identifier; undefined if only the service knows how to compute it. */
  hashOf: {
    local: ({ keys }: LocalPlace, keyID: string): string | undefined => keys.tryHashOf({ keyID }),
    remote: (): string | undefined => undefined,
  },
  /** Returns the key, also a deleted one until it is purged; undefined if there is none. */
  find: operation<[reference: KeyReference], FoundKey | undefined>({
    local: async ({ keys, caller }, reference) => {
      const key = await keys.orgKey(caller, reference, { includeDeleted: true });
      if (!key) return undefined;
      const { keyHash, orgID, version, definition } = key;
      return { keyID: keys.keyIDOf(key), keyHash, orgID, version, state: keys.stateOf(key), alias: definition.alias };
    },
    remote: async ({ send }, by) => {
      const { orgKey } = await query(send, documents.find, { by }, FoundResponse);
      if (!orgKey) return undefined;
      const { definition, ...found } = orgKey;
      return { ...found, alias: definition?.alias ?? undefined };
    },
  }),
  /** Returns the first hashes after this text, in order, of the keys in the filter. */
  hashesAfter: operation<[text: string, filter: KeyFilter, limit: number], readonly string[]>({
    local: async ({ keys, caller }, text, filter, limit) => {
      const order = { orderBy: 'KEY_HASH', descending: false, after: { value: '', keyHash: text } } as const;
      const page = await keys.orgKeys(caller, { ...order, filter, limit });
      return entriesOf(page).map((found) => positionOfEntry(found, 'KEY_HASH').keyHash);
    },
    remote: async (place, text, filter, limit) => {
      const after = cursorsOf({ filter, orderBy: 'KEY_HASH' }).encode({ value: '', keyHash: text });
      const { keys, unreadable } = await listOf(place, { filter, orderBy: 'KEY_HASH', limit, after });
      return [...keys.map(({ keyHash }) => keyHash), ...unreadable].toSorted();
    },
  }),
  read: operation<[keyID: string, options?: { readonly includeDeleted: boolean }], ReadKey>({
    local: async ({ keys, caller }, keyID, options) => {
      const key = await keys.orgKey(caller, { keyID }, options);
      if (!key) throw keyNotFound();
      const { keyHash, version, orgID, definition } = key;
      const quota = keys.quotasOf([key]).then(([found]) => found, unlessUnavailable);
      return { keyHash, version, state: keys.stateOf(key), definition: { ...definition, orgID }, quota: await quota };
    },
    // Over REST, whose integers are exact.
    remote: async ({ send }, keyID, { includeDeleted } = { includeDeleted: false }) => {
      const response = await send(
        `/svc/org/keys/${encodeURIComponent(keyID)}${includeDeleted ? '?include_deleted=1' : ''}`,
      );
      if (response['status'] === 'error') throw toAppError(response);
      const { key_hash: keyHash, version, state, data, quota } = parseAs(KeyResponse, response);
      const { date_created: created, last_updated: updated, ...definition } = data;
      return { keyHash, version, state, definition: definitionFromWire(definition) as object, quota };
    },
  }),
  /** Returns what `update` would change now. */
  previewUpdate: operation<[keyID: string, definition: unknown, options: PreviewOptions], KeyChangeResult>({
    local: async ({ keys, caller }, keyID, definition, options) => {
      const input = parseDefinition('update', definition);
      return toResult(await keys.previewOrgKeyUpdate(caller, { keyID, input, ...options }));
    },
    remote: async (place, keyID, definition, options) => {
      const variables = { keyID, input: await toInput(place, keyID, definition), ...options };
      const { orgKey, change: preview } = await query(place.send, documents.compare, variables, CompareResponse);
      const { data } = ChangeResult.safeParse({ ...preview, orgKey });
      if (!data) throw keyNotFound();
      return data;
    },
  }),
  update: operation<[keyID: string, definition: unknown, options: UpdateOptions], KeyChangeResult>({
    local: async ({ keys, caller }, keyID, definition, options) => {
      const input = parseDefinition('update', definition);
      return toResult(await keys.updateOrgKey(caller, { keyID, input, ...options }));
    },
    remote: async (place, keyID, definition, options) => {
      const variables = { keyID, input: await toInput(place, keyID, definition), ...options };
      return (await query(place.send, documents.update, variables, ChangeResponse)).change;
    },
  }),
  /** Changes the fields of the patch. Its access rights are an object of labels. */
  patch: operation<[keyID: string, patch: DefinitionPatch, options: UpdateOptions], KeyChangeResult>({
    local: async ({ keys, caller }, keyID, patch, options) =>
      toResult(await keys.patchOrgKey(caller, { keyID, patch, ...options })),
    remote: async (place, keyID, patch, options) => {
      const { patch: listed, expectedVersion } = await withListedRights(place, keyID, patch, options);
      const variables = { keyID, ...options, expectedVersion, patch: await toInput(place, keyID, listed) };
      return (await query(place.send, documents.patch, variables, ChangeResponse)).change;
    },
  }),
  /** Creates a key. Its identifier is generated if `keyID` is undefined. */
  create: operation<[keyID: string | undefined, definition: unknown, options: CreateOptions], CreatedKey>({
    local: async ({ keys, caller }, keyID, definition, options) => {
      const input = parseDefinition('update', definition);
      const created = await keys.createOrgKey(caller, { keyID, input, ...options });
      return { ...toResult(created), keyID: keys.newKeyIDOf(created.key) };
    },
    remote: async (place, keyID, definition, { keyIDPrefix: prefix, reason }) => {
      const variables = { keyID, prefix, reason, input: await toInput(place, keyID ?? '', definition, {}) };
      return (await query(place.send, documents.create, variables, CreateResponse)).change;
    },
  }),
  revert: change<[keyID: string, toVersion: number, options: ChangeOptions]>(
    documents.revert,
    (keyID, toVersion, options) => ({ keyID, toVersion, ...options }),
    ({ keys, caller }, keyID, toVersion, options) => keys.revertOrgKey(caller, { keyID, toVersion, ...options }),
  ),
  delete: change<[keyID: string, options: ChangeOptions]>(
    documents.delete,
    keyVariables,
    ({ keys, caller }, keyID, options) => keys.deleteOrgKey(caller, { keyID, ...options }),
  ),
  /** Restores a deleted key. */
  restore: change<[keyID: string, options: ChangeOptions]>(
    documents.restore,
    keyVariables,
    ({ keys, caller }, keyID, options) => keys.restoreOrgKey(caller, { keyID, ...options }),
  ),
  /** Gives a key a generated identifier. */
  rotate: operation<[keyID: string, options: RotateOptions], RotatedKey>({
    local: async ({ keys, caller }, keyID, options) => {
      const rotated = await keys.rotateOrgKey(caller, { keyID, ...options });
      const retiresAt = keys.rotationOf(rotated.key)?.retiresAt.toISOString();
      return { ...toResult(rotated), keyID: keys.newKeyIDOf(rotated.key), retiresAt };
    },
    remote: async (
      place,
      keyID,
      { overlapSeconds: overlap, silenceSeconds: silence, keyIDPrefix: prefix, ...rest },
    ) => {
      const variables = { keyID, overlap, silence, prefix, ...rest };
      return (await query(place.send, documents.rotate, variables, RotateResponse)).change;
    },
  }),
  cancelRotation: change<[keyID: string, options: ChangeOptions]>(
    documents.cancelRotation,
    keyVariables,
    ({ keys, caller }, keyID, options) => keys.cancelKeyRotation(caller, { keyID, ...options }),
  ),
  list: operation<[request: ListRequest], KeyListPage>({
    local: async ({ keys, caller }, { filter, orderBy, descending = false, limit, after }) => {
      const cursors = cursorsOf({ filter, orderBy });
      const position = after === undefined ? {} : { after: cursors.decode(after, 'after') };
      const page = await keys.orgKeys(caller, { filter, orderBy, descending, limit: limit + 1, ...position });
      const found = entriesOf(page);
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      const readable = shown.flatMap((one) => ('key' in one ? one.key : []));
      return {
        keys: (await withQuotas(keys, readable)).map(({ key, figures: quota }) => {
          const { keyHash, orgID, version, lastUpdated, definition } = key;
          const { alias, tags = [], expires } = definition;
          const lastUsedAt = lastUseOf(key);
          const state = keys.stateOf(key);
          return { keyHash, orgID, state, version, alias, tags, expires, lastUpdated, lastUsedAt, quota };
        }),
        unreadable: shown.flatMap((one) => ('key' in one ? [] : one.position.keyHash)),
        next: last && found.length > limit ? cursors.encode(positionOfEntry(last, orderBy)) : undefined,
      };
    },
    // Over REST: GraphQL also limits the cost of a page.
    remote: async (place, request) => listOf(place, request),
  }),
  /** Returns the newest entries of a key, also of a deleted one, newest first. */
  history: operation<[keyID: string, limit: number], readonly KeyHistoryEntry[]>({
    local: async ({ keys, caller }, keyID, limit) => {
      const key = await keys.orgKey(caller, { keyID }, { includeDeleted: true });
      if (!key) throw keyNotFound();
      return (await keys.history(key, { last: true, limit })).toReversed().map(toHistoryEntry);
    },
    remote: async ({ send }, keyID, limit) => {
      const { orgKey } = await query(send, documents.history, { keyID, limit }, HistoryResponse);
      if (!orgKey) throw keyNotFound();
      return orgKey.history.edges.map(({ node }) => node).toReversed();
    },
  }),
  /** Returns the requests of a key by day, also of a deleted one. */
  usage: operation<[keyID: string, days: RequestedDays], UsageOf>({
    local: async ({ keys, caller }, keyID, days) => {
      const range = keys.useRangeOf(days);
      const key = await keys.orgKey(caller, { keyID }, { includeDeleted: true });
      const [found] = key ? await keys.usesOf(caller, [key], range) : [];
      if (!found) throw keyNotFound();
      return toUsage(found);
    },
    remote: async ({ send }, keyID, days) => {
      const { orgKey } = await query(send, documents.usage, { keyID, ...days }, KeyUsageResponse);
      if (!orgKey) throw keyNotFound();
      return orgKey.usage;
    },
  }),
  /** Returns the requests of all keys of an organization by day. */
  usageOfOrg: operation<[orgID: string, days: RequestedDays], UsageOf>({
    local: async ({ keys, caller }, orgID, days) => {
      const [found] = await keys.usesOfOrgs(caller, [orgID], keys.useRangeOf(days));
      if (!found) throw organizationNotFound();
      return toUsage(found);
    },
    remote: async ({ send }, orgID, days) => {
      const { organization } = await query(send, documents.usageOfOrg, { orgID, ...days }, OrgUsageResponse);
      if (!organization) throw organizationNotFound();
      return organization.usage;
    },
  }),
  /** Yields changes as they are made, each once and in order, until the signal is aborted. */
  follow: {
    local: async function* (
      this: void,
      { keys, caller }: LocalPlace,
      { keyHash, ...request }: FollowRequest,
      signal: AbortSignal,
    ): AsyncGenerator<FollowedChange, void> {
      const key = keyHash === undefined ? undefined : { keyHash };
      for await (const event of await keys.orgKeyChanges(caller, { ...request, key }, signal)) {
        const { cursor, entry: found, notice: noticed, isUnreadable = false } = event;
        const followed = found && { keyHash: found.keyHash, orgID: found.orgID, entry: toHistoryEntry(found) };
        const notice = noticed && { ...noticed, at: noticed.at.toISOString() };
        yield { cursor, change: followed, notice, isUnreadable };
      }
    },
    remote: async function* (
      this: void,
      { subscribe }: RemotePlace,
      request: FollowRequest,
      signal: AbortSignal,
    ): AsyncGenerator<FollowedChange, void> {
      for await (const result of subscribe(documents.follow, request, signal)) {
        const event = parseAs(FollowResponse, result).data.orgKeyChanged;
        const { cursor, keyHash, orgID, entry: found, notice: noticed } = event;
        const followed = keyHash && orgID && found ? { keyHash, orgID, entry: found } : undefined;
        const notice = keyHash && orgID && noticed ? { keyHash, orgID, ...noticed } : undefined;
        const { errors } = Object(result) as { readonly errors?: readonly unknown[] };
        const isUnreadable = !followed && !notice && (errors ?? []).length > 0;
        yield { cursor, change: followed, notice, isUnreadable };
      }
    },
  },
};

type Operations = typeof operations;

/** The operations in one place. */
export type KeyClient = {
  readonly [Name in keyof Operations]: Operations[Name] extends {
    local: (place: LocalPlace, ...args: infer Args) => infer Result;
  }
    ? (...args: Args) => Result
    : never;
};

/** Makes a client of the operations in this process, or of those at a service. */
export function bindOperations(place: ClientPlace): KeyClient {
  const bound = Object.entries(operations).map(([name, { local, remote }]) => [
    name,
    (...args: readonly unknown[]) =>
      'local' in place
        ? (local as (...all: readonly unknown[]) => unknown)(place.local, ...args)
        : (remote as (...all: readonly unknown[]) => unknown)(place.remote, ...args),
  ]);
  return Object.fromEntries(bound) as KeyClient;
}

/** The error for a key that does not exist. */
export function keyNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such key.');
}

function organizationNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such organization.');
}

function toUsage(usage: Usage): UsageOf {
  const { from, to } = usage.range;
  return { from: dayText(from), to: dayText(to), ...totalsOf(usage), days: daysToText(usage) };
}

function unlessUnavailable(error: unknown): undefined {
  if (errorCodeOf(error) !== 'UNAVAILABLE') throw error;
}

function toHistoryEntry({
  at,
  actor,
  versionAfter,
  operation: made,
  requestID,
  ...rest
}: KeyRevision): KeyHistoryEntry {
  return {
    version: versionAfter,
    at: at.toISOString(),
    operation: made,
    revertedTo: rest.revertedTo,
    proposalID: rest.proposal?.id,
    approvedBy: rest.proposal?.approvedBy,
    actor,
    reason: rest.reason,
    requestID: requestID || undefined,
    quotaUsedBeforeReset: rest.quotaUsedBeforeReset,
    changes: rest.changes,
  };
}

function toResult({ key: { keyHash, version }, ...rest }: KeyChange): KeyChangeResult {
  return { keyHash, version, ...rest };
}

const Quota = z.object({ max: nullable(Int64), used: Int64, remaining: nullable(Int64), renewsAt: nullable(DateTime) });
const changeShape = {
  version: z.number(),
  changed: z.boolean(),
  changes: z.array(Change),
  quotaEffect: nullable(z.object({ before: Quota, after: Quota })),
  quotaReset: nullable(z.enum(keysOf(resetStatuses))),
  warnings: z.array(z.object({ path: Path, code: z.string(), message: z.string() })),
};
const ChangeResult = z
  .object({ orgKey: z.object({ keyHash: z.string() }), ...changeShape })
  .transform(({ changed: isChanged, orgKey: { keyHash }, ...rest }): KeyChangeResult => ({
    isChanged,
    keyHash,
    ...rest,
  }));
const ChangeResponse = z.object({ change: ChangeResult });
const CreateResponse = z.object({
  change: z
    .object({ orgKey: z.object({ keyID: z.string(), keyHash: z.string() }), ...changeShape })
    .transform(({ changed: isChanged, orgKey, ...rest }): CreatedKey => ({ isChanged, ...orgKey, ...rest })),
});
const RotateResponse = z.object({
  change: z
    .object({
      orgKey: z.object({
        keyID: z.string(),
        keyHash: z.string(),
        rotation: nullable(z.object({ retiresAt: z.string() })),
      }),
      ...changeShape,
    })
    .transform(({ changed: isChanged, orgKey: { rotation, ...orgKey }, ...rest }): RotatedKey => ({
      isChanged,
      ...orgKey,
      retiresAt: rotation?.retiresAt,
      ...rest,
    })),
});
const CompareResponse = z.object({
  orgKey: z.object({ keyHash: z.string() }).nullable(),
  change: z.object({}).loose(),
});
const FoundResponse = z.object({
  orgKey: z
    .object({
      keyID: z.string(),
      keyHash: z.string(),
      orgID: z.string(),
      version: z.number(),
      state: z.enum(keysOf(keyStates)),
      definition: z.object({ alias: z.string().nullish() }).nullish(),
    })
    .nullable(),
});
const HistoryEntry = z.object({
  version: z.number(),
  at: z.string(),
  operation: z.string().toLowerCase(),
  revertedTo: nullable(z.number()),
  proposalID: nullable(z.string()),
  approvedBy: nullable(ActorResponse),
  actor: ActorResponse,
  reason: nullable(z.string()),
  requestID: nullable(z.string()),
  quotaUsedBeforeReset: nullable(Int64),
  changes: z.array(Change),
});
const HistoryResponse = z.object({
  orgKey: z.object({ history: z.object({ edges: z.array(z.object({ node: HistoryEntry })) }) }).nullable(),
});
const Notice = z
  .object({
    eventID: z.string(),
    kind: z
      .string()
      .toLowerCase()
      .pipe(z.enum(keysOf(noticeKinds))),
    at: z.string(),
    version: z.number(),
    expiresAt: nullable(DateTime),
    daysBefore: nullable(z.number()),
    threshold: nullable(z.number()),
    quotaUsed: nullable(Int64),
    quotaMax: nullable(Int64),
    quotaRenewsAt: nullable(DateTime),
    proposalID: nullable(z.string()),
  })
  .transform(({ eventID: id, expiresAt: expires, ...rest }) => ({ id, expires, ...rest }));
const FollowResponse = z.object({
  data: z.object({
    orgKeyChanged: z.object({
      cursor: z.string(),
      keyHash: z.string().nullish(),
      orgID: z.string().nullish(),
      entry: HistoryEntry.nullish(),
      notice: Notice.nullish(),
    }),
  }),
});
const UsageResponse = z.object({
  from: z.string(),
  to: z.string(),
  allowed: Int64,
  denied: Int64,
  days: z.array(z.object({ day: z.string(), allowed: Int64, denied: Int64 })),
});
const KeyUsageResponse = z.object({ orgKey: z.object({ usage: UsageResponse }).nullable() });
const OrgUsageResponse = z.object({ organization: z.object({ usage: UsageResponse }).nullable() });
const RestQuota = z
  .object({ used: Int64, remaining: Int64, renews_at: Int64.optional() })
  // REST shows an unlimited quota as -1.
  .transform(({ used, remaining, renews_at: renewsAt }) => ({
    used,
    remaining: remaining < 0n ? undefined : remaining,
    renewsAt,
  }));
const KeyResponse = z.object({
  key_hash: z.string(),
  version: z.number(),
  state: z.enum(keysOf(keyStates)),
  data: z.object({}).loose(),
  quota: RestQuota,
  last_used_at: z.string().optional(),
});
const ListedData = z.object({
  org_id: z.string(),
  alias: z.string().optional(),
  tags: z.array(z.string()).optional(),
  expires: Int64.optional(),
  last_updated: Int64,
});
const ListResponse = z.object({
  keys: z.array(KeyResponse.extend({ key: z.string() })),
  errors: z.array(z.object({ key_hash: z.string() })).default([]),
  next: z.string().optional(),
});

/** A page of keys as REST returns them. */
type RestPage = Omit<z.output<typeof ListResponse>, 'errors'> & Pick<KeyListPage, 'unreadable'>;

/** Reads a page of keys over REST, whose integers are exact. */
export async function readPage(send: SendRequest, request: ListRequest): Promise<RestPage> {
  const response = await send(`/svc/org/keys?${listQuery(request).toString()}`);
  if (response['status'] === 'error') throw toAppError(response);
  const { errors, ...page } = parseAs(ListResponse, response);
  return { ...page, unreadable: errors.map(({ key_hash: keyHash }) => keyHash) };
}

async function listOf({ send }: RemotePlace, request: ListRequest): Promise<KeyListPage> {
  const { keys, unreadable, next } = await readPage(send, request);
  const listed = keys.map(({ key_hash: keyHash, version, state, data, quota, last_used_at: lastUsedAt }) => {
    const { org_id: orgID, alias, tags = [], expires, last_updated: lastUpdated } = parseAs(ListedData, data);
    return { keyHash, version, state, orgID, alias, tags, expires, lastUpdated, lastUsedAt, quota };
  });
  return { keys: listed, unreadable, next };
}

function listQuery({ filter, orderBy, descending = false, limit, after }: ListRequest): URLSearchParams {
  const { orgID, aliasPrefix, aliasContains, tagsAll: [tag] = [], policy, apiID, states: [state] = [] } = filter;
  const unusedSince = filter.unusedSince === undefined ? undefined : String(filter.unusedSince / 1000n);
  const aliases = { alias_prefix: aliasPrefix, alias_contains: aliasContains };
  const filters = { org_id: orgID, ...aliases, tag, policy, api_id: apiID, state, unused_since: unusedSince };
  const order = { order_by: orderBy, descending: descending ? '1' : undefined };
  const given = Object.entries({ ...filters, ...order, after }).filter(
    (parameter): parameter is [string, string] => parameter[1] !== undefined,
  );
  return new URLSearchParams([...given, ['limit', String(limit)]]);
}

/** In GraphQL, the access rights of a patch list all entries that the key has afterwards. */
export async function withListedRights(
  place: RemotePlace,
  keyID: string,
  patch: DefinitionPatch,
  { expectedVersion }: ChangeOptions,
): Promise<{ patch: DefinitionPatch; expectedVersion: number | undefined }> {
  const { accessRights: rights } = patch;
  if (!isObject(rights)) return { patch, expectedVersion };
  const { definition, version } = await operations.read.remote(place, keyID);
  const { accessRights: stored = [] } = definition as Definition;
  const labels = new Set([...stored.map(({ label }) => label), ...Object.keys(rights)]);
  const listed = [...labels].flatMap((label) => {
    const entry = Object.hasOwn(rights, label) ? rights[label] : {};
    if (entry === null) return [];
    return [isObject(entry) ? { ...entry, label } : entry];
  });
  return { patch: { ...patch, accessRights: listed }, expectedVersion: expectedVersion ?? version };
}

/**
 * Converts a definition to the input of GraphQL. In free-form JSON, a decimal string represents the stored integer.
 *
 * @throws {AppError} INVALID when free-form JSON contains a new integer beyond 2^53-1, which would become text.
 */
export async function toInput(
  place: RemotePlace,
  keyID: string,
  definition: unknown,
  stored?: object,
): Promise<unknown> {
  const input = withDecimalStrings(definition);
  for (const name of freeFormFields) {
    const [given, sent] = [
      Reflect.get(Object(definition), name) as unknown,
      Reflect.get(Object(input), name) as unknown,
    ];
    if (stringifyJSON(sent ?? null) === stringifyJSON(given ?? null)) continue;
    const current = stored ?? (await operations.read.remote(place, keyID, { includeDeleted: true })).definition;
    const kept = keepStoredIntegers(Reflect.get(current, name), sent);
    if (stringifyJSON(kept) === stringifyJSON(given)) continue;
    const message = 'has a new integer beyond 2^53-1, which a service accepts over REST only; write it as text';
    throw new AppError('INVALID', 'The key definition has a problem.', {
      issues: [{ path: [name], code: 'IMPRECISE', message }],
    });
  }
  return input;
}
