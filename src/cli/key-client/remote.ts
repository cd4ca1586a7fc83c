import { z } from 'zod';
import { changeKinds } from '../../keys/key.js';
import { resetStatuses } from '../../keys/quota/quota-manager.js';
import { definitionFromWire } from '../../wire/field-names.js';
import { toAppError, type SendRequest } from './connection.js';
import type { KeyClient } from './port.js';
import { keyNotFound } from './local.js';
import { parsePath } from '../input/path.js';

const change = '{ path kind before after }';
const quota = '{ max used remaining renewsAt }';
const effect = `changes ${change} quotaEffect { before ${quota} after ${quota} } quotaReset warnings { path code message }`;

/** The operations that are sent, each under the name of what it is for. */
export const documents = {
  keyIDOf: `query KeyIDOf($keyHash: String!) { orgKey(keyHash: $keyHash) { keyID } }`,
  compare: `query Compare($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {
    orgKey(keyID: $keyID) { keyHash }
    change: previewOrgKeyUpdate(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion) { version ${effect} } }`,
  update: `mutation Update($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $reason: String) {
    change: updateOrgKey(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion, reason: $reason) { keyHash version ${effect} } }`,
  create: `mutation Create($keyID: ID!, $input: UpdateKeyInput!, $reason: String) {
    change: createOrgKey(keyID: $keyID, input: $input, reason: $reason) { keyHash version ${effect} } }`,
  revert: `mutation Revert($keyID: ID!, $toVersion: Int!, $expectedVersion: Int, $reason: String) {
    change: revertOrgKey(keyID: $keyID, toVersion: $toVersion, expectedVersion: $expectedVersion, reason: $reason) { keyHash version ${effect} } }`,
  history: `query History($keyID: ID!, $limit: Int!) { orgKey(keyID: $keyID) { history(last: $limit) { edges { node {
    version at operation credentialID credentialLabel reason requestID quotaUsedBeforeReset changes ${change} } } } } }`,
} as const;

// The exact reader of JSON answers a number where that is exact, else a bigint; GraphQL answers the digits as a text.
const Int64 = z.union([z.number(), z.bigint(), z.string().regex(/^-?\d+$/)]).transform(BigInt);
const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const Path = z.string().transform(parsePath);

const Quota = z.object({ max: maybe(Int64), used: Int64, remaining: maybe(Int64), renewsAt: maybe(Int64) });
const FieldChange = z
  .object({ path: Path, kind: z.enum(kindsOf(changeKinds)), before: z.unknown(), after: z.unknown() })
  .transform(({ path, kind, before, after }) => ({
    path,
    kind,
    ...(before !== null && before !== undefined && { before }),
    ...(after !== null && after !== undefined && { after }),
  }));
const Changed = z.object({
  keyHash: z.string(),
  version: z.number(),
  changes: z.array(FieldChange),
  quotaEffect: maybe(z.object({ before: Quota, after: Quota })),
  quotaReset: maybe(z.enum(kindsOf(resetStatuses))),
  warnings: z.array(z.object({ path: Path, code: z.string(), message: z.string() })),
});
const HistoryEntry = z.object({
  version: z.number(),
  at: z.string(),
  operation: z.string().toLowerCase(),
  credentialID: z.string(),
  credentialLabel: z.string(),
  reason: maybe(z.string()),
  requestID: maybe(z.string()),
  quotaUsedBeforeReset: maybe(Int64),
  changes: z.array(FieldChange),
});
const StoredKey = z.object({ key_hash: z.string(), version: z.number(), data: z.object({}).loose() });

const found = <T extends z.ZodRawShape>(shape: T) => z.object({ orgKey: z.object(shape).nullable() });

function kindsOf<T extends string>(table: Readonly<Record<T, string>>): T[] {
  return Object.keys(table) as T[];
}

/** The keys of a service that is asked by GraphQL, which keeps identifiers of keys out of addresses and their logs. */
export function createRemoteKeys(send: SendRequest): KeyClient {
  async function ask<T>(document: string, variables: object, schema: z.ZodType<T>): Promise<T> {
    const answer = await send('/graphql', { query: document, variables }, document.startsWith('mutation'));
    const [error] = Array.isArray(answer['errors']) ? (answer['errors'] as unknown[]) : [];
    if (error !== undefined) {
      const { message, extensions } = Object(error) as Record<string, unknown>;
      throw toAppError({ ...Object(extensions), message });
    }
    const read = schema.safeParse(answer['data']);
    if (read.success) return read.data;
    throw new Error('The service answers otherwise than this version of the command line expects.', {
      cause: read.error,
    });
  }

  const Answer = z.object({ change: Changed });

  return {
    keyIDOf: async (keyHash) => {
      const { orgKey } = await ask(documents.keyIDOf, { keyHash }, found({ keyID: z.string() }));
      if (!orgKey) throw keyNotFound();
      return orgKey.keyID;
    },
    // Over REST, which writes every integer in digits: what is read here is written again.
    read: async (keyID) => {
      const answer = await send(`/svc/org/keys/${encodeURIComponent(keyID)}`);
      if (answer['status'] === 'error') throw toAppError(answer);
      const { key_hash: keyHash, version, data } = StoredKey.parse(answer);
      const { date_created: created, last_updated: updated, ...definition } = data;
      return { keyHash, version, definition: definitionFromWire(definition) as object };
    },
    previewUpdate: async (keyID, input, options) => {
      const { orgKey, change: plan } = await ask(
        documents.compare,
        { keyID, input, ...options },
        z.object({ orgKey: z.object({ keyHash: z.string() }).nullable(), change: z.object({}).loose() }),
      );
      const { data } = Changed.safeParse({ ...plan, keyHash: orgKey?.keyHash });
      if (!data) throw keyNotFound();
      return data;
    },
    update: async (keyID, input, options) => (await ask(documents.update, { keyID, input, ...options }, Answer)).change,
    create: async (keyID, input, options) => (await ask(documents.create, { keyID, input, ...options }, Answer)).change,
    revert: async (keyID, toVersion, options) =>
      (await ask(documents.revert, { keyID, toVersion, ...options }, Answer)).change,
    history: async (keyID, limit) => {
      const shape = { history: z.object({ edges: z.array(z.object({ node: HistoryEntry })) }) };
      const { orgKey } = await ask(documents.history, { keyID, limit }, found(shape));
      if (!orgKey) throw keyNotFound();
      return orgKey.history.edges.map(({ node }) => node).toReversed();
    },
  };
}
