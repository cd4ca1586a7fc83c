import { parse, print, type DocumentNode } from 'graphql';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createClient, OrgKeyDocument, type OrgKeyQuery } from '../../../src/client/client.js';

/** A document of codegen's client preset with `documentMode: 'string'` in another project, whose class is its own. */
class ForeignDocumentString<TResult, TVariables> extends String {
  __apiType?: NonNullable<ForeignDocument<TResult, TVariables>['__apiType']>;
  public __meta__?: Record<string, unknown> | undefined;
  private value: string;

  constructor(value: string, __meta__?: Record<string, unknown>) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & ForeignDocument<TResult, TVariables> {
    return this.value;
  }
}

/** `DocumentTypeDecoration` of @graphql-typed-document-node/core, which codegen and gql.tada have as well. */
interface ForeignDocument<TResult, TVariables> {
  __apiType?: (variables: TVariables) => TResult;
}

/** `TypedDocumentNode` of @graphql-typed-document-node/core. */
interface ForeignTree<TResult, TVariables> extends DocumentNode, ForeignDocument<TResult, TVariables> {}

/** `TadaDocumentNode` of gql.tada. */
type TadaTree<TResult, TVariables> = DocumentNode &
  ForeignDocument<TResult, TVariables> & {
    __ensureTypesOfVariablesAndResultMatching?: (variables: TVariables) => TResult;
  };

interface Version {
  readonly orgKey: { readonly version: number } | null;
}
interface ByID {
  readonly keyID: string;
}
interface Event {
  readonly orgKeyChanged: { readonly cursor: string; readonly keyHash: string | null };
}
interface After {
  readonly orgID: string;
  readonly after?: string | null;
}

const text = 'query ($keyID: ID!) { orgKey(by: { keyID: $keyID }) { version } }';
const subscription =
  'subscription ($orgID: String, $after: String) { orgKeyChanged(orgID: $orgID, after: $after) { cursor keyHash } }';

/** A client whose requests have these bodies. */
function recording(options: { readonly trustedDocuments?: boolean } = {}) {
  const bodies: Record<string, unknown>[] = [];
  const respond: typeof fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as Record<string, unknown>;
    bodies.push(body);
    if (!String(body['query']).startsWith('subscription')) {
      return Promise.resolve(Response.json({ data: { orgKey: { version: 3 } } }));
    }
    const event = { data: { orgKeyChanged: { cursor: `c${bodies.length}`, keyHash: null } } };
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve(
      new Response(`event: next\ndata: ${JSON.stringify(event)}\n\nevent: complete\n\n`, { headers }),
    );
  };
  const given = { url: 'http://keyfront.test', fetch: respond, ...options };
  return { bodies, client: createClient(given), treeClient: createClient({ ...given, print }) };
}

describe('a document', () => {
  it('is a string of the codegen of another project', async () => {
    const { client, treeClient, bodies } = recording();
    const document = new ForeignDocumentString<Version, ByID>(text);
    const { data } = await client.send(document, { keyID: 'a' });
    expectTypeOf(data).toEqualTypeOf<Version>();
    expect(data.orgKey?.version).toBe(3);
    await treeClient.send(document, { keyID: 'a' });
    // @ts-expect-error The variable has the type of its document.
    await client.send(document, { keyID: 7 });
    // @ts-expect-error A variable is missing.
    await client.send(document, {});
    expect(bodies[0]).toStrictEqual({ query: text, variables: { keyID: 'a' } });
    expect(bodies[1]).toStrictEqual(bodies[0]);
  });

  it('is a string with types, or without', async () => {
    const { client, bodies } = recording();
    const typedText: string & ForeignDocument<Version, ByID> = text;
    const typed = await client.send(typedText, { keyID: 'a' });
    expectTypeOf(typed.data).toEqualTypeOf<Version>();
    const untyped = await client.send(text, { keyID: 'a' });
    expectTypeOf(untyped.data).toEqualTypeOf<unknown>();
    expect(bodies).toStrictEqual(Array(2).fill({ query: text, variables: { keyID: 'a' } }));
  });

  it('is a syntax tree, for a client with `print`', async () => {
    const { client, treeClient, bodies } = recording();
    const tree: ForeignTree<Version, ByID> = parse(text);
    const ofTada: TadaTree<Version, ByID> = parse(text);
    expectTypeOf((await treeClient.send(tree, { keyID: 'a' })).data).toEqualTypeOf<Version>();
    expectTypeOf((await treeClient.send(ofTada, { keyID: 'a' })).data).toEqualTypeOf<Version>();
    // @ts-expect-error The variable has the type of its document.
    await treeClient.send(tree, { keyID: 7 });
    expect(bodies.map(({ query }) => query)).toStrictEqual(Array(3).fill(print(tree)));
    // @ts-expect-error This client has no `print`.
    await expect(client.send(tree, { keyID: 'a' })).rejects.toThrow('Pass `print` of the package graphql');
  });

  it('of the client has its types', async () => {
    const { client, treeClient } = recording();
    for (const each of [client, treeClient]) {
      expectTypeOf((await each.send(OrgKeyDocument, { by: { keyID: 'a' } })).data).toEqualTypeOf<OrgKeyQuery>();
    }
  });

  it('is sent as its id to services that execute trusted documents only, in either form', async () => {
    const { client, treeClient, bodies } = recording({ trustedDocuments: true });
    const meta = { hash: 'sha256:1' };
    await client.send(new ForeignDocumentString<Version, ByID>(text, meta), { keyID: 'a' });
    const tree: ForeignTree<Version, ByID> = Object.assign(parse(text), { __meta__: meta });
    await treeClient.send(tree, { keyID: 'a' });
    expect(bodies).toStrictEqual(Array(2).fill({ documentId: 'sha256:1', variables: { keyID: 'a' } }));
    await expect(client.send(text, { keyID: 'a' })).rejects.toThrow('The document has no id');
    expect(bodies).toHaveLength(2);
  });

  it('is followed in each form', async () => {
    const { client, treeClient } = recording();
    const document = new ForeignDocumentString<Event, After>(subscription);
    const tree: ForeignTree<Event, After> = parse(subscription);
    const streams = [client.follow(document, { orgID: 'a' }), treeClient.follow(tree, { orgID: 'a' })];
    for (const stream of streams) {
      const { value } = await stream.next();
      expectTypeOf(value).toExtend<{ data: Event } | undefined | void>();
      expect(value?.data.orgKeyChanged.cursor).toMatch(/^c\d$/);
      await stream.return();
    }
  });

  it('is not followed without its cursor, or the variable to continue after it', () => {
    const { client } = recording();
    const withoutCursor = new ForeignDocumentString<{ orgKeyChanged: { keyHash: string } }, After>(subscription);
    const withoutAfter = new ForeignDocumentString<Event, { readonly orgID: string }>(subscription);
    // @ts-expect-error There is no cursor.
    client.follow(withoutCursor, { orgID: 'a' });
    // @ts-expect-error There is no `after`.
    client.follow(withoutAfter, { orgID: 'a' });
    expect(withoutCursor).toBeInstanceOf(String);
  });
});
