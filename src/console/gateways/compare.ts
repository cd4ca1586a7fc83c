import {
  addDigests,
  GatewaysDocument,
  KeyDigestDocument,
  type Client,
  type GatewaysQuery,
} from '../../client/client.js';
import { nodesOf, required, type NodeOf } from '../results.js';
import { text } from '../strings.js';

/** A gateway of the list. */
export type Gateway = NodeOf<GatewaysQuery['gateways']>;

/** Whether a copy has all keys as they were at its cursor, and how many these are. */
export interface Comparison {
  readonly isSame: boolean;
  readonly keys: number;
}

/** Compares the copy of a gateway, as it is now, with the keys. Undefined if it sends no digest. */
export async function compareCopy(client: Client, { name, orgID }: Gateway): Promise<Comparison | undefined> {
  const { data: read } = await client.send(GatewaysDocument, { orgID, names: [name] });
  const gateway = nodesOf(read.gateways).find((node) => node.orgID === orgID);
  if (gateway?.cursor == null || gateway.digest === null) return undefined;
  const digests: string[] = [];
  let keys = 0;
  for (let after: string | null = null, isEnd = false; !isEnd;) {
    const variables: { cursor: string; orgID: string | null; after: string | null } = {
      cursor: gateway.cursor,
      orgID,
      after,
    };
    const { data, errors } = await client.send(KeyDigestDocument, variables);
    const part = required(data.keyDigest, errors, text.notFound);
    digests.push(part.digest);
    keys += part.keys;
    after = part.endCursor;
    isEnd = after === null;
  }
  return { isSame: addDigests(digests) === gateway.digest, keys };
}
