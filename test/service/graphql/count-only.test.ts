import { expect, it } from 'vitest';
import { createKeyService } from '../../../src/keys/key-service.js';
import { dataOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';
import { serveWith } from '../../support/overridden-server.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme' });

/** How many pages of keys a selection reads, and what it returns. */
async function pagesOf(selection: string) {
  let pages = 0;
  const service = createKeyService(t.app.services.ports);
  const { graphql } = serveWith(t, {
    keys: {
      listOrgKeys: (...given) => {
        pages += 1;
        return service.listOrgKeys(...given);
      },
    },
  });
  const query = `query { orgKeys(first: 1) { ${selection} } } fragment Count on OrgKeyConnection { totalCount }`;
  return { list: dataOf(await graphql(query)), pages };
}

it.each(['totalCount', 'n: totalCount __typename ...Count', '... on OrgKeyConnection { ...Count }'])(
  'reads no keys for the selection %s',
  async (selection) => {
    const { list, pages } = await pagesOf(selection.includes('Count }') ? selection : `${selection} ...Count`);
    expect(list).toMatchObject({ totalCount: 1 });
    expect(pages).toBe(0);
  },
);

it.each(['edges { node { version } }', 'pageInfo { hasNextPage }', '... { edges { cursor } }'])(
  'reads a page for the selection totalCount and %s',
  async (selection) => {
    const { pages } = await pagesOf(`...Count ${selection}`);
    expect(pages).toBe(1);
  },
);
