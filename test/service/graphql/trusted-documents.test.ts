import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrustedDocuments } from '../../../src/graphql/execution/trusted-documents.js';
import {
  OrgKeyDocument,
  PreviewKeyDocument,
  UpdateOrgKeyDocument,
  type TypedDocumentString,
} from '../../../src/client/generated/graphql.js';
import { codeOf, errorsOf } from '../../support/responses.js';
import { noCredentials, startApp, startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { makeCommandLine, type CommandLine } from '../../support/cli.js';
import { expectNoChange } from '../../support/state.js';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** What codegen wrote for the documents of the tests. */
const file = new URL('../../../src/client/generated/persisted-documents.json', import.meta.url).pathname;
const onlyTrusted = { KEYFRONT_TRUSTED_DOCUMENTS: file, KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on' };

const idOf = <R, V>(document: TypedDocumentString<R, V>) => String(document.__meta__?.['hash']);
const hexOf = <R, V>(document: TypedDocumentString<R, V>) => idOf(document).replace('sha256:', '');
const textOf = (id: string) => String((JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)[id]);

/** Sends requests like a client that has only the ids and types of its documents. */
async function sendRequest<R, V>(t: TestApp, document: TypedDocumentString<R, V>, variables: V): Promise<R> {
  const { body } = await t.post({ documentId: idOf(document), variables });
  expect(body['errors']).toBeUndefined();
  return body['data'] as R;
}

const rejectedAsUntrusted = (response: TestResponse) => {
  expect(errorsOf(response)).toMatchObject([
    {
      message: 'This service executes trusted documents only. Send a `documentId`, and no `query`.',
      extensions: { code: 'INVALID' },
    },
  ]);
  expect(response.body).not.toHaveProperty('data');
};

describe('with trusted documents only', () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp(onlyTrusted);
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  });
  afterAll(() => t.close());

  it('G-19 executes documents of codegen by their ids', async () => {
    const preview = await sendRequest(t, PreviewKeyDocument, {
      input: { keyID: 'k2', alias: 'x', expires: '9007199254740993' },
    });
    expect(preview.previewKey?.keyHash).toBe(sha256('k2'));
    expect(preview.previewKey?.data).toMatchObject({ alias: 'x', expires: '9007199254740993' });

    const update = await sendRequest(t, UpdateOrgKeyDocument, { keyID: 'k1', input: { alias: 'by id' } });
    expect(update.updateOrgKey).toMatchObject({ orgKey: { keyID: 'k1', version: 2 } });
    const read = await sendRequest(t, OrgKeyDocument, { by: { keyID: 'k1' } });
    expect(read.orgKey).toMatchObject({ definition: { alias: 'by id' } });
  });

  it.each([
    ['with a prefix', idOf(PreviewKeyDocument)],
    ['without', hexOf(PreviewKeyDocument)],
  ])('G-19 accepts an id in either place %s', async (_, id) => {
    const variables = { input: { keyID: 'k2' } };
    for (const request of [
      { documentId: id, variables },
      { query: null, documentId: id, variables },
      { extensions: { persistedQuery: { version: 1, sha256Hash: id } }, variables },
    ]) {
      expect((await t.post(request)).body).toMatchObject({ data: { previewKey: { keyID: 'k2' } } });
    }
    for (const parameters of [
      { documentId: id },
      { extensions: JSON.stringify({ persistedQuery: { version: 1, sha256Hash: id } }) },
    ]) {
      const response = await t.graphqlByGET({ ...parameters, variables: JSON.stringify(variables) });
      expect(response.body).toMatchObject({ data: { previewKey: { keyID: 'k2' } } });
    }
  });

  it('G-19 rejects a mutation by its id over GET, and writes nothing', async () => {
    const variables = JSON.stringify({ keyID: 'k1', input: { alias: 'over GET' } });
    const request = () => t.graphqlByGET({ documentId: idOf(UpdateOrgKeyDocument), variables });
    const response = await expectNoChange(t, request);
    expect([response.status, response.headers.get('allow'), codeOf(response)]).toStrictEqual([405, 'POST', 'INVALID']);
  });

  it.each([
    ['an untrusted text', '{ previewKey(input: {}) { keyID } }'],
    ['even __typename', '{ __typename }'],
    ['the introspection query of GraphiQL', getIntrospectionQuery()],
    ['the text of a trusted document', textOf(idOf(PreviewKeyDocument))],
    ['a text that does not parse', '{'],
    ['an empty text', ''],
    ['a mutation', 'mutation { updateOrgKey(keyID: "k1", input: {alias: "untrusted"}) { status } }'],
  ])('G-19 rejects %s', async (_, query) => {
    rejectedAsUntrusted(await expectNoChange(t, () => t.post({ query })));
    rejectedAsUntrusted(await expectNoChange(t, () => t.graphqlByGET({ query })));
  });

  it('G-19 rejects a text sent with an id, even if it is the same text', async () => {
    const id = idOf(PreviewKeyDocument);
    for (const query of [textOf(id), '{ __typename }']) {
      rejectedAsUntrusted(await t.post({ query, documentId: id, variables: { input: {} } }));
      const persistedQuery = { version: 1, sha256Hash: sha256(query) };
      rejectedAsUntrusted(await t.post({ query, extensions: { persistedQuery }, variables: { input: {} } }));
    }
  });

  it('G-19 never adds documents from requests', async () => {
    const query = '{ __typename }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(query) } };
    for (let round = 0; round < 2; round += 1) {
      rejectedAsUntrusted(await t.post({ query, extensions }));
      const response = await t.post({ extensions });
      expect(errorsOf(response)[0]?.message).toBe('There is no trusted document with this id.');
    }
  });

  it.each([
    'sha256:0000000000000000000000000000000000000000000000000000000000000000',
    hexOf(PreviewKeyDocument).toUpperCase(),
    `sha256:sha256:${hexOf(PreviewKeyDocument)}`,
    `${idOf(PreviewKeyDocument)} `,
    'PreviewKey',
    '__proto__',
    'constructor',
    '\ud800',
    '',
  ])('G-19 rejects the unknown id %j, with and without a credential', async (documentId) => {
    for (const headers of [{}, noCredentials]) {
      const response = await t.post({ documentId, variables: { input: {} } }, headers);
      expect(errorsOf(response)).toMatchObject([
        { message: 'There is no trusted document with this id.', extensions: { code: 'INVALID' } },
      ]);
      expect(response.body).not.toHaveProperty('data');
    }
  });

  it.each([5, true, [idOf(PreviewKeyDocument)], { id: idOf(PreviewKeyDocument) }])(
    'G-19 rejects %j as an id without an internal error',
    async (id) => {
      for (const request of [{ documentId: id }, { extensions: { persistedQuery: { version: 1, sha256Hash: id } } }]) {
        const response = await t.post(request);
        expect([response.status, codeOf(response)]).toStrictEqual([400, 'INVALID']);
        expect(errorsOf(response)[0]?.message).toBe('The id of a document must be a string.');
      }
    },
  );

  it.each([{}, { extensions: {} }, { extensions: 'x' }, { extensions: { persistedQuery: null } }, { variables: {} }])(
    'G-19 rejects %j without a document, and states what to send',
    async (request) => {
      const response = await t.post(request);
      rejectedAsUntrusted(response);
      expect(response.status).toBe(400);
    },
  );

  it('G-19 rejects with a failed request for application/graphql-response+json', async () => {
    const accept = { accept: 'application/graphql-response+json' };
    for (const request of [{ query: '{ __typename }' }, { documentId: 'x' }]) {
      expect((await t.post(request, accept)).status).toBe(400);
    }
  });

  it('G-19 validates the variables of a trusted document, with all issues', async () => {
    const variables = { input: { rate: 'x', tags: [' '] } };
    const response = await t.post({ documentId: idOf(PreviewKeyDocument), variables });
    expect(errorsOf(response)[0]?.extensions).toMatchObject({
      code: 'INVALID',
      issues: [{ path: 'rate' }, { path: 'tags[0]' }],
    });
  });
});

describe('with trusted and other documents', () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ KEYFRONT_TRUSTED_DOCUMENTS: file });
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  });
  afterAll(() => t.close());

  it('G-19 executes trusted and other documents', async () => {
    const preview = await sendRequest(t, PreviewKeyDocument, { input: { keyID: 'k2' } });
    expect(preview.previewKey?.keyID).toBe('k2');
    expect((await t.post({ query: '{ __typename }' })).body).toStrictEqual({ data: { __typename: 'Query' } });
  });

  it('G-19 executes a text with its own hash, and does not store it under the hash', async () => {
    const query = '{ __typename }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(query) } };
    for (let round = 0; round < 2; round += 1) {
      expect((await t.post({ query, extensions })).body).toStrictEqual({ data: { __typename: 'Query' } });
      const response = await t.post({ extensions });
      // The word at which Apollo's clients send their texts without asking again.
      expect(errorsOf(response)).toMatchObject([
        { message: 'PersistedQueryNotSupported', extensions: { code: 'INVALID' } },
      ]);
      expect(codeOf(await t.post({ documentId: `sha256:${sha256(query)}` }))).toBe('INVALID');
    }
    const documentId = `sha256:${sha256(query)}`;
    expect((await t.post({ query, documentId })).body).toStrictEqual({ data: { __typename: 'Query' } });
  });

  it('G-19 rejects a text with the hash of another, and executes neither', async () => {
    const query = 'mutation { updateOrgKey(keyID: "k1", input: {alias: "mismatch"}) { status } }';
    for (const id of [idOf(UpdateOrgKeyDocument), hexOf(PreviewKeyDocument), 'x', '']) {
      const variables = { keyID: 'k1', input: { alias: 'mismatch' } };
      for (const request of [{ documentId: id }, { extensions: { persistedQuery: { version: 1, sha256Hash: id } } }]) {
        const response = await expectNoChange(t, () => t.post({ ...request, query, variables }));
        expect(errorsOf(response)).toMatchObject([
          { message: 'The id is not the SHA-256 hash of the `query`.', extensions: { code: 'INVALID' } },
        ]);
      }
    }
  });
});

describe('with introspection by credential', () => {
  it.each([{}, { KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on' }])(
    'G-19 rejects trusted and unknown ids alike without a credential: %j',
    async (env) => {
      const own = await startOwnApp({ KEYFRONT_TRUSTED_DOCUMENTS: file, KEYFRONT_INTROSPECTION: 'credential', ...env });
      const shown = async (request: object) => {
        const { status, text } = await own.post(request, noCredentials);
        return [status, text.replace(/"requestID":"[^"]*"/, '')];
      };
      const unknown = `sha256:${sha256('unknown')}`;
      const trusted = idOf(PreviewKeyDocument);
      const first = await shown({ documentId: trusted, variables: { input: {} } });
      expect(first).toEqual([200, expect.stringContaining('UNAUTHENTICATED')]);
      expect(await shown({ documentId: unknown, variables: { input: {} } })).toEqual(first);
      for (const sha256Hash of [trusted, unknown]) {
        expect(await shown({ extensions: { persistedQuery: { version: 1, sha256Hash } } })).toEqual(first);
      }
      expect((await own.post({ documentId: trusted, variables: { input: {} } })).body).toHaveProperty('data');
    },
  );
});

describe('without trusted documents', () => {
  it('G-19 rejects an id with the reason', async () => {
    const t = await startOwnApp({ KEYFRONT_CONSOLE: 'off' });
    const response = await t.post({ documentId: idOf(PreviewKeyDocument), variables: { input: {} } });
    expect(errorsOf(response)).toMatchObject([
      { message: 'There is no trusted document with this id.', extensions: { code: 'INVALID' } },
    ]);
  });
});

describe('a file of trusted documents', () => {
  let c: CommandLine;
  beforeAll(async () => {
    c = await makeCommandLine();
  });
  afterAll(() => c.remove());

  const valid = '{ __typename }';
  const named = (text: string) => ({ [`sha256:${sha256(text)}`]: text });

  it.each([
    ['is not JSON', '{"a": ', 'It must be JSON'],
    ['is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'It must be JSON'],
    ['is a list', JSON.stringify([valid]), 'It must be a JSON object'],
    ['is a text', '"x"', 'It must be a JSON object'],
    ['is null', 'null', 'It must be a JSON object'],
    ['is empty', '', 'It must be JSON'],
    ['holds nothing', '{}', 'It contains no documents.'],
    ['names a document twice', `{"a":"${valid}","a":"${valid}"}`, 'It must be JSON'],
    ['holds something else than texts', '{"a":{"query":"x"}}', '"a" must be a document, as a string.'],
    ['holds half a surrogate pair', '{"a":"{ __typename } # \\ud800"}', '"a" must be a document, as a string.'],
    ['has an empty id', JSON.stringify({ '': valid }), '"" is not an id.'],
    ['has a prefix for an id', JSON.stringify({ 'sha256:': valid }), '"sha256:" is not an id.'],
    ['has a wrong hash', JSON.stringify({ [`sha256:${sha256('x')}`]: valid }), 'is not the hash of its document.'],
    ['has a wrong hash without a prefix', JSON.stringify({ [sha256('x')]: valid }), 'is not the hash of its document.'],
    ['has a wrong SHA-1', JSON.stringify({ ['0'.repeat(40)]: valid }), 'is not the hash of its document.'],
    ['has a hash in capitals', JSON.stringify({ [sha256(valid).toUpperCase()]: valid }), 'is not the hash'],
    ['has a prefix before a name', JSON.stringify({ 'sha256:preview': valid }), 'is not the hash of its document.'],
    ['holds what does not parse', JSON.stringify({ a: '{' }), '"a" does not parse: Syntax Error'],
    ['holds nothing in a text', JSON.stringify({ a: ' ' }), '"a" does not parse: Syntax Error'],
    [
      'holds what is beyond the limits',
      JSON.stringify({ a: `{ ${'a '.repeat(1000)}}` }),
      '"a" does not parse: The operation has too many',
    ],
    [
      'holds what the schema does not have',
      JSON.stringify(named('{ previewKeys { keyID } }')),
      'does not match the schema: Cannot query field "previewKeys" on type "Query".',
    ],
    [
      'holds a fragment alone',
      JSON.stringify({ a: 'fragment F on Query { __typename }' }),
      '"a" does not match the schema',
    ],
    ['holds a schema', JSON.stringify({ a: 'type Query { a: Int }' }), '"a" does not match the schema'],
    [
      'holds a number that would be rounded',
      JSON.stringify({ a: '{ previewKey(input: {rate: 9007199254740993}) { keyID } }' }),
      '"a" does not match the schema: Float cannot represent this value exactly.',
    ],
  ])('G-19 reports a file that %s, with the reason, before storage is opened', async (_, content, reason) => {
    const path = await c.file('documents.json', content);
    const { code, stderr } = await c.keyfront(['serve'], { PORT: '0', KEYFRONT_TRUSTED_DOCUMENTS: path });
    expect(code).toBe(1);
    expect(stderr).toContain(`KEYFRONT_TRUSTED_DOCUMENTS: ${path} cannot be used. `);
    expect(stderr).toContain(reason);
    expect(existsSync(c.folder)).toBe(false);
  });

  it('G-19 reports a file that is missing or a folder', async () => {
    for (const [path, reason] of [
      ['/nowhere/documents.json', 'it does not exist; check the path (ENOENT)'],
      [import.meta.dirname, 'it is a folder; name a file (EISDIR)'],
    ] as const) {
      const { code, stderr } = await c.keyfront(['serve'], { PORT: '0', KEYFRONT_TRUSTED_DOCUMENTS: path });
      expect(code).toBe(1);
      expect(stderr).toBe(`KEYFRONT_TRUSTED_DOCUMENTS: ${path} cannot be used. It cannot be read: ${reason}.\n`);
    }
  });

  it('G-19 reports all invalid entries of a file at once', async () => {
    const path = await c.file(
      'documents.json',
      JSON.stringify({ a: '{', b: '{ nope }', [sha256(valid)]: valid, c: 5 }),
    );
    const { stderr } = await c.keyfront(['serve'], { PORT: '0', KEYFRONT_TRUSTED_DOCUMENTS: path });
    expect(stderr.match(/^ {2}"\w+" /gm)).toStrictEqual(['  "a" ', '  "b" ', '  "c" ']);
  });

  it('G-19 accepts hashes with and without a prefix, and names', async () => {
    const sha1 = createHash('sha1').update(valid).digest('hex');
    const ids = [`sha256:${sha256(valid)}`, sha256(`${valid}#`), sha1, 'health', 'x-app:1.0'];
    const entries = ids.map((id, index) => [id, index === 1 ? `${valid}#` : valid] as const);
    const path = await c.file('documents.json', `\ufeff${JSON.stringify(Object.fromEntries(entries))}`);
    expect([...readTrustedDocuments(path).keys()]).toStrictEqual([sha256(valid), ...ids.slice(1)]);

    const t = await startOwnApp({ KEYFRONT_TRUSTED_DOCUMENTS: path, KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on' });
    for (const documentId of ids)
      expect((await t.post({ documentId })).body).toStrictEqual({ data: { __typename: 'Query' } });
  });
});
