import { createClient, KeyfrontError, type Client } from 'keyfront-client';
import { graphql } from './generated/index.js';
import type { KeysOfCustomerQuery } from './generated/graphql.js';

/*
 * A page of your dashboard with the keys of a customer. It has documents of its own, whose types codegen writes to
 * `generated/` (see the recipe of keyfront-client), and changes its rows while others change the keys.
 */

const KeysOfCustomer = graphql(`
  query KeysOfCustomer($orgID: String!, $after: String) {
    orgKeys(filter: { orgID: $orgID }, first: 50, after: $after) {
      edges {
        node {
          keyHash
          version
          state
          definition {
            alias
          }
          quota {
            used
            max
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const CreateKey = graphql(`
  mutation CreateKey($orgID: String!, $alias: String!, $idempotencyKey: String!) {
    createOrgKey(input: { orgID: $orgID, alias: $alias }, idempotencyKey: $idempotencyKey) {
      orgKey {
        keyHash
        keyID
      }
    }
  }
`);

const KeyChanges = graphql(`
  subscription KeyChanges($orgID: String!, $after: String) {
    orgKeyChanged(orgID: $orgID, after: $after) {
      cursor
      ... on OrgKeyChanged {
        keyHash
      }
    }
  }
`);

type Row = NonNullable<NonNullable<NonNullable<NonNullable<KeysOfCustomerQuery['orgKeys']>['edges']>[number]>['node']>;

/** Reads the keys of a customer, page by page. */
export async function readKeys(client: Client, orgID: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after: string | null | undefined; ;) {
    const { data, errors } = await client.send(KeysOfCustomer, { orgID, after: after ?? null });
    // A key that cannot be read is null, and has an error. Show it: the others are complete.
    for (const { message, path } of errors) console.error(message, path);
    rows.push(...(data.orgKeys?.edges ?? []).flatMap((edge) => edge?.node ?? []));
    if (!data.orgKeys?.pageInfo.hasNextPage) return rows;
    after = data.orgKeys.pageInfo.endCursor;
  }
}

/** Creates a key, and returns its identifier, which is shown once. A repeated call with the same order creates no second key. */
export async function createKey(client: Client, orgID: string, alias: string, order: string): Promise<string> {
  const { data, errors } = await client.send(CreateKey, { orgID, alias, idempotencyKey: order });
  const keyID = data.createOrgKey?.orgKey?.keyID;
  if (keyID == null) throw errors[0] ?? new Error('The response has no key.');
  return keyID;
}

/** The used part of a quota. Integers beyond 2^53-1 are strings. */
export function usageOf({ quota }: Row): string {
  if (quota?.max == null) return 'unlimited';
  return `${BigInt(quota.used).toLocaleString()} of ${BigInt(quota.max).toLocaleString()}`;
}

/** Shows the keys in a table, and reads them again after each change, until the signal aborts. */
export async function showKeys(
  client: Client,
  orgID: string,
  table: Pick<HTMLTableElement, 'replaceChildren' | 'insertRow'>,
  signal: AbortSignal,
): Promise<void> {
  const show = async () => {
    const rows = await readKeys(client, orgID);
    table.replaceChildren();
    for (const row of rows) {
      const cells = [row.definition?.alias ?? row.keyHash.slice(0, 8), row.state, usageOf(row)];
      const shown = table.insertRow();
      for (const text of cells) shown.insertCell().textContent = text;
    }
  };
  // The first event comes at once, so that no change is lost between the first read and the subscription.
  for await (const _event of client.follow(KeyChanges, { orgID }, { signal })) await show();
}

/** Starts the page: the address is that of your router or of Keyfront, and the session supplies the credential. */
export function startPage(url: string, orgID: string, credential: () => Promise<string>): AbortController {
  const over = new AbortController();
  const table = document.querySelector('table');
  const client = createClient({ url, service: credential });
  if (table) {
    showKeys(client, orgID, table, over.signal).catch((error: unknown) => {
      table.caption = document.createElement('caption');
      table.caption.textContent = error instanceof KeyfrontError ? `${error.code}: ${error.message}` : String(error);
    });
  }
  return over;
}
