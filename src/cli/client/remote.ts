import * as z from 'zod';
import { decimalStringOf, keepStoredIntegers } from '../../keys/definition/decimal-strings.js';
import type { KeyFilter } from '../../keys/key-query.js';
import { changeKinds, keyStates } from '../../keys/key.js';
import { resetStatuses } from '../../keys/quota/quota-manager.js';
import { AppError } from '../../lib/errors.js';
import { stringifyJSON } from '../../lib/json.js';
import { definitionFromWire } from '../../wire/field-names.js';
import { parsePath } from '../input.js';
import { toAppError, type SendRequest } from './connection.js';
import { keyNotFound } from './local.js';
import type { KeyClient } from './port.js';

const change = '{ path kind before after }';
const entry =
  '{ version at operation credentialID credentialLabel reason requestID quotaUsedBeforeReset changes { path kind before after } }';
const figures = '{ max used remaining renewsAt }';
const effect = `changed changes ${change} quotaEffect { before ${figures} after ${figures} } quotaReset warnings { path code message }`;

/** The GraphQL documents, by method of `KeyClient`. */
export const documents = {
  find: `query Find($by: OrgKeyByInput!) {
    orgKey(by: $by, includeDeleted: true) { keyID keyHash orgID version state definition { alias } } }`,
  compare: `query Compare($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $includeDeleted: Boolean) {
    orgKey(by: { keyID: $keyID }, includeDeleted: $includeDeleted) { keyHash }
    change: previewOrgKeyUpdate(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion, includeDeleted: $includeDeleted) { version ${effect} } }`,
  update: `mutation Update($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $reason: String) {
    change: updateOrgKey(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion, reason: $reason) { keyHash version ${effect} } }`,
  create: `mutation Create($keyID: ID, $prefix: String, $input: UpdateKeyInput!, $reason: String) {
    change: createOrgKey(keyID: $keyID, prefix: $prefix, input: $input, reason: $reason) { key keyHash version ${effect} } }`,
  revert: `mutation Revert($keyID: ID!, $toVersion: Int!, $expectedVersion: Int, $reason: String) {
    change: revertOrgKey(keyID: $keyID, toVersion: $toVersion, expectedVersion: $expectedVersion, reason: $reason) { keyHash version ${effect} } }`,
  delete: `mutation Delete($keyID: ID!, $expectedVersion: Int, $reason: String) {
    change: deleteOrgKey(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) { keyHash version ${effect} } }`,
  undelete: `mutation Undelete($keyID: ID!, $expectedVersion: Int, $reason: String) {
    change: restoreOrgKey(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) { keyHash version ${effect} } }`,
  history: `query History($keyID: ID!, $limit: Int!) { orgKey(by: { keyID: $keyID }) { history(last: $limit) { edges { node ${entry} } } } }`,
  follow: `subscription Follow($orgID: String, $keyHash: String, $after: String) {
    orgKeyChanged(orgID: $orgID, keyHash: $keyHash, after: $after) { cursor keyHash orgID entry ${entry} } }`,
} as const;

// Large integers arrive as a bigint from the JSON parser, or as a string of digits from GraphQL.
const Int64 = z.union([z.number(), z.bigint(), z.string().regex(/^-?\d+$/)]).transform(BigInt);
const nullable = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const Path = z.string().transform(parsePath);

const Quota = z.object({ max: nullable(Int64), used: Int64, remaining: nullable(Int64), renewsAt: nullable(Int64) });
const FieldChange = z
  .object({ path: Path, kind: z.enum(keysOf(changeKinds)), before: z.unknown(), after: z.unknown() })
  .transform(({ path, kind, before, after }) => ({
    path,
    kind,
    ...(before !== null && before !== undefined && { before }),
    ...(after !== null && after !== undefined && { after }),
  }));
const ChangeResult = z
  .object({
    keyHash: z.string(),
    version: z.number(),
    changed: z.boolean(),
    changes: z.array(FieldChange),
    quotaEffect: nullable(z.object({ before: Quota, after: Quota })),
    quotaReset: nullable(z.enum(keysOf(resetStatuses))),
    warnings: z.array(z.object({ path: Path, code: z.string(), message: z.string() })),
  })
  .transform(({ changed: isChanged, ...rest }) => ({ isChanged, ...rest }));
/** An entry of a history in a response of GraphQL. */
export const HistoryEntry = z.object({
  version: z.number(),
  at: z.string(),
  operation: z.string().toLowerCase(),
  credentialID: z.string(),
  credentialLabel: z.string(),
  reason: nullable(z.string()),
  requestID: nullable(z.string()),
  quotaUsedBeforeReset: nullable(Int64),
  changes: z.array(FieldChange),
});
const LiveQuota = z
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
  data: z.object({}).loose(),
  quota: LiveQuota,
});

const ListedKey = z
  .object({
    key_hash: z.string(),
    version: z.number(),
    state: z.enum(keysOf(keyStates)),
    data: z.object({
      org_id: z.string(),
      alias: z.string().optional(),
      tags: z.array(z.string()).optional(),
      expires: Int64.optional(),
      last_updated: Int64,
    }),
    quota: LiveQuota,
  })
  .transform(({ key_hash: keyHash, version, state, data, quota }) => ({
    keyHash,
    version,
    state,
    orgID: data.org_id,
    alias: data.alias,
    tags: data.tags ?? [],
    expires: data.expires,
    lastUpdated: data.last_updated,
    quota,
  }));
const KeyListResponse = z.object({
  keys: z.array(ListedKey),
  errors: z.array(z.object({ key_hash: z.string() })).default([]),
  next: z.string().optional(),
});

const foundShape = {
  keyID: z.string(),
  keyHash: z.string(),
  orgID: z.string(),
  version: z.number(),
  state: z.enum(keysOf(keyStates)),
  definition: z.object({ alias: z.string().nullish() }).nullish(),
};

const OrgKeyResponse = <T extends z.ZodRawShape>(shape: T) => z.object({ orgKey: z.object(shape).nullable() });

function keysOf<T extends string>(table: Readonly<Record<T, string>>): T[] {
  return Object.keys(table) as T[];
}

function listQuery(filter: KeyFilter, limit: number, after: string | undefined): URLSearchParams {
  const { orgID, aliasPrefix, tag, policy, apiID, state } = filter;
  const parameters = { org_id: orgID, alias_prefix: aliasPrefix, tag, policy, api_id: apiID, state, after };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams([...given, ['limit', String(limit)]]);
}

/** Integers beyond 2^53-1 are decimal strings in GraphQL. */
function withDecimalStrings(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return decimalStringOf(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withDecimalStrings);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withDecimalStrings(member)]));
}

/** Calls a service over GraphQL, so that key identifiers are in the body of a request, which proxies do not log. */
export function createRemoteKeys(send: SendRequest): Omit<KeyClient, 'follow'> {
  async function query<T>(document: string, variables: object, schema: z.ZodType<T>): Promise<T> {
    const response = await send('/graphql', { query: document, variables }, document.startsWith('mutation'));
    const [error] = Array.isArray(response['errors']) ? (response['errors'] as unknown[]) : [];
    if (error !== undefined) {
      const { message, extensions } = Object(error) as Record<string, unknown>;
      throw toAppError({ ...Object(extensions), message });
    }
    const data = schema.safeParse(response['data']);
    if (data.success) return data.data;
    throw new Error('Unexpected response. Is the URL the base address of a Keyfront service of the same version?', {
      cause: data.error,
    });
  }

  const ChangeResponse = z.object({ change: ChangeResult });
  const CreateResponse = z
    .object({ change: z.object({ key: z.string() }).loose() })
    .transform(({ change: created }) => ({
      change: { ...ChangeResult.parse(created), key: created.key },
    }));

  /** Over REST, whose integers are exact. */
  async function read(keyID: string): ReturnType<KeyClient['read']> {
    const response = await send(`/svc/org/keys/${encodeURIComponent(keyID)}`);
    if (response['status'] === 'error') throw toAppError(response);
    const { key_hash: keyHash, version, data, quota } = KeyResponse.parse(response);
    const { date_created: created, last_updated: updated, ...definition } = data;
    const readQuota = () => Promise.resolve(quota);
    return { keyHash, version, definition: definitionFromWire(definition) as object, readQuota };
  }

  /**
   * Converts a definition to the input of GraphQL. In free-form JSON, a decimal string represents the stored integer.
   *
   * @throws {AppError} INVALID when free-form JSON contains a new integer beyond 2^53-1, which would become text.
   */
  async function toInput(keyID: string, definition: unknown, stored?: object): Promise<unknown> {
    const input = withDecimalStrings(definition);
    for (const name of ['metaData', 'oauthKeys']) {
      const [given, sent] = [
        Reflect.get(Object(definition), name) as unknown,
        Reflect.get(Object(input), name) as unknown,
      ];
      if (stringifyJSON(sent ?? null) === stringifyJSON(given ?? null)) continue;
      const current: object = stored ?? (await read(keyID)).definition;
      const kept = keepStoredIntegers(Reflect.get(current, name), sent);
      if (stringifyJSON(kept) === stringifyJSON(given)) continue;
      const message = 'has a new integer beyond 2^53-1, which a service accepts over REST only; write it as text';
      throw new AppError('INVALID', 'The key definition has a problem.', {
        issues: [{ path: [name], code: 'IMPRECISE', message }],
      });
    }
    return input;
  }

  return {
    hashOf: () => undefined,
    find: async (by) => {
      const { orgKey } = await query(documents.find, { by }, OrgKeyResponse(foundShape));
      if (!orgKey) return undefined;
      const { definition, ...found } = orgKey;
      return { ...found, alias: definition?.alias ?? undefined };
    },
    read,
    previewUpdate: async (keyID, input, options) => {
      const { orgKey, change: preview } = await query(
        documents.compare,
        { keyID, input: await toInput(keyID, input), ...options },
        z.object({ orgKey: z.object({ keyHash: z.string() }).nullable(), change: z.object({}).loose() }),
      );
      const { data } = ChangeResult.safeParse({ ...preview, keyHash: orgKey?.keyHash });
      if (!data) throw keyNotFound();
      return data;
    },
    update: async (keyID, input, options) =>
      (await query(documents.update, { keyID, input: await toInput(keyID, input), ...options }, ChangeResponse)).change,
    create: async (keyID, input, { keyIDPrefix: prefix, reason }) => {
      const variables = { keyID, prefix, reason, input: await toInput(keyID ?? '', input, {}) };
      const { change: created } = await query(documents.create, variables, CreateResponse);
      const { key, ...result } = created;
      return { ...result, keyID: key };
    },
    revert: async (keyID, toVersion, options) =>
      (await query(documents.revert, { keyID, toVersion, ...options }, ChangeResponse)).change,
    delete: async (keyID, options) => (await query(documents.delete, { keyID, ...options }, ChangeResponse)).change,
    undelete: async (keyID, options) => (await query(documents.undelete, { keyID, ...options }, ChangeResponse)).change,
    // Over REST: GraphQL also limits the cost of a page.
    list: async (filter, limit, after) => {
      const response = await send(`/svc/org/keys?${listQuery(filter, limit, after).toString()}`);
      if (response['status'] === 'error') throw toAppError(response);
      const { keys, errors, next } = KeyListResponse.parse(response);
      return { keys, unreadable: errors.map(({ key_hash: keyHash }) => keyHash), next };
    },
    history: async (keyID, limit) => {
      const shape = { history: z.object({ edges: z.array(z.object({ node: HistoryEntry })) }) };
      const { orgKey } = await query(documents.history, { keyID, limit }, OrgKeyResponse(shape));
      if (!orgKey) throw keyNotFound();
      return orgKey.history.edges.map(({ node }) => node).toReversed();
    },
  };
}
