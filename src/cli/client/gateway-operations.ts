import * as z from 'zod';
import { addDigests } from '../../client/copy-digest.js';
import type { GatewayID } from '../../keys/gateway-store.js';
import type { GatewayReference } from '../../keys/gateways.js';
import { keyNotFound, type ClientPlace, type LocalPlace, type RemotePlace } from './operations.js';
import { nullable, pageOf, query, readPages } from './responses.js';

/** A gateway in a list. */
export interface ListedGateway extends GatewayID {
  /** In seconds. */
  readonly lag: number;
  /** RFC 3339. */
  readonly lastSeen: string;
  readonly cursor: string | undefined;
  readonly digest: string | undefined;
}

/** Whether one gateway has the newest change of a key. */
export interface KeyDeployment extends GatewayID {
  readonly isCurrent: boolean;
}

/** The digest of all keys at a cursor. */
interface Digest {
  /** 64 hex digits. */
  readonly digest: string;
  readonly keys: number;
}

/** The operations of the commands for gateways, on the data folder or at a service. */
export interface GatewayClient {
  /** All gateways, or those with these names, by name. */
  readonly list: (orgID: string | undefined, names?: readonly string[]) => Promise<readonly ListedGateway[]>;
  /** @throws {AppError} NOT_FOUND if there is none */
  readonly forget: (gateway: GatewayReference) => Promise<void>;
  /**
   * What gateways with these names, at most 50, have of a key, also of a deleted one.
   *
   * @throws {AppError} NOT_FOUND if there is no such key
   */
  readonly deployments: (keyID: string, names: readonly string[]) => Promise<readonly KeyDeployment[]>;
  readonly digest: (orgID: string | undefined, cursor: string) => Promise<Digest>;
}

/** The GraphQL documents. */
export const gatewayDocuments = {
  list: `query Gateways($orgID: String, $names: [String!], $after: String) {
    gateways(orgID: $orgID, names: $names, first: 100, after: $after) { pageInfo { hasNextPage endCursor }
      edges { node { name orgID lag lastSeen cursor digest } } } }`,
  forget: `mutation ForgetGateway($gateway: String!, $orgID: String) {
    forgetGateway(gateway: $gateway, orgID: $orgID) { gateway } }`,
  deployments: `query Deployments($keyID: ID!, $names: [String!]!) {
    orgKey(by: { keyID: $keyID }, includeDeleted: true) {
      deployments(gateways: $names, first: 100) { edges { node { gateway orgID isCurrent } } } } }`,
  digest: `query KeyDigest($cursor: String!, $orgID: String, $after: String) {
    keyDigest(cursor: $cursor, orgID: $orgID, after: $after) { digest keys endCursor } }`,
} as const;

const orgID = nullable(z.string());
const ListResponse = z.object({
  gateways: pageOf(
    z.object({
      name: z.string(),
      orgID,
      lag: z.number(),
      lastSeen: z.string(),
      cursor: nullable(z.string()),
      digest: nullable(z.string()),
    }),
  ),
});
const ForgetResponse = z.object({ forgetGateway: z.object({ gateway: z.string() }) });
const DeploymentsResponse = z.object({
  orgKey: nullable(
    z.object({
      deployments: z.object({
        edges: z.array(
          z.object({
            node: z
              .object({ gateway: z.string(), orgID, isCurrent: z.boolean() })
              .transform(({ gateway: name, ...rest }) => ({ name, ...rest })),
          }),
        ),
      }),
    }),
  ),
});
const DigestResponse = z.object({
  keyDigest: z.object({ digest: z.string(), keys: z.number(), endCursor: nullable(z.string()) }),
});

/** A part of the digest, and where the next one begins. */
interface DigestPart<End> extends Digest {
  readonly end: End | undefined;
}

/** Reads the parts of a digest, each after the end of the one before. */
async function readDigest<End>(read: (after: End | undefined) => Promise<DigestPart<End>>): Promise<Digest> {
  const digests: string[] = [];
  let keys = 0;
  for (let after: End | undefined, isEnd = false; !isEnd;) {
    const part = await read(after);
    digests.push(part.digest);
    keys += part.keys;
    after = part.end;
    isEnd = after === undefined;
  }
  return { digest: addDigests(digests), keys };
}

function localGateways({ keys, caller }: LocalPlace): GatewayClient {
  return {
    list: async (org, names) => {
      const found: ListedGateway[] = [];
      for (let isEnd = false; !isEnd;) {
        const page = await keys.gateways(caller, { orgID: org, names, after: found.at(-1), limit: 100 });
        found.push(...page.map(({ at, ...gateway }) => ({ ...gateway, lastSeen: at.toISOString() })));
        isEnd = page.length < 100;
      }
      return found;
    },
    forget: async (gateway) => {
      await keys.forgetGateway(caller, gateway);
    },
    deployments: async (keyID, names) => {
      const key = await keys.orgKey(caller, { keyID }, { includeDeleted: true });
      const [found] = key ? await keys.deploymentsOf(caller, [key], { names, limit: 100 }) : [];
      if (!found) throw keyNotFound();
      return found;
    },
    digest: (org, cursor) => readDigest<bigint>((after) => keys.keyDigest(caller, { orgID: org, cursor, after })),
  };
}

function remoteGateways({ send }: RemotePlace): GatewayClient {
  return {
    list: (org, names) =>
      readPages(async (after) => {
        const variables = { orgID: org, names, after };
        return (await query(send, gatewayDocuments.list, variables, ListResponse)).gateways;
      }),
    forget: async (gateway) => {
      await query(send, gatewayDocuments.forget, gateway, ForgetResponse);
    },
    deployments: async (keyID, names) => {
      const { orgKey } = await query(send, gatewayDocuments.deployments, { keyID, names }, DeploymentsResponse);
      if (!orgKey) throw keyNotFound();
      return orgKey.deployments.edges.map(({ node }) => node);
    },
    digest: (org, cursor) =>
      readDigest(async (after: string | undefined) => {
        const variables = { orgID: org, cursor, after };
        const { keyDigest } = await query(send, gatewayDocuments.digest, variables, DigestResponse);
        return { ...keyDigest, end: keyDigest.endCursor };
      }),
  };
}

/** Makes a client of the place. */
export function bindGateways(place: ClientPlace): GatewayClient {
  return 'local' in place ? localGateways(place.local) : remoteGateways(place.remote);
}
