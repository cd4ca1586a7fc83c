import fc from 'fast-check';
import { definitions, oddTexts, reservedNames, sharedDefinition, unsoundTexts } from '../system/parity/definitions.js';
import { graphqlOf, isObject, jsonText, type Wire, type WireObject } from '../system/parity/wire.js';
import { createRandom } from '../support/generated.js';

type Header = readonly [name: string, value: string];

/** A request as it goes over the wire. */
export interface Input {
  readonly kind: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body: Buffer;
  /** Whether every secret in it stands in a secret's place, so that not even an acceptance may show it. */
  readonly isIntact: boolean;
}

/** What is secret in the inputs of one run. */
export interface Canaries {
  readonly password: string;
  readonly jwt: string;
  readonly hmac: string;
  readonly credential: string;
  readonly unknownKeyID: string;
}

export interface FuzzContext {
  readonly management: string;
  readonly service: string;
  /** Keys that exist; updates of the last one are always meant to fail. */
  readonly keyIDs: readonly string[];
  readonly canaries: Canaries;
}

type Random = ReturnType<typeof createRandom>;

const wordsOf = (text: string) => text.split(' ');

const naughty = [
  ...oddTexts,
  ...unsoundTexts,
  ...reservedNames,
  ...wordsOf('undefined -0 1e400 0x7fffffffffffffff 9223372036854775808 ${jndi:ldap://x/a} __typename __schema'),
  ...wordsOf('* *** <PASSWORD> (a+)+$'),
  "' OR 1=1 --",
  '$(touch /tmp/x)',
  '\ufeff',
  '\r\nSet-Cookie: a=b',
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘',
  'x'.repeat(300),
  '\\'.repeat(40),
  '"'.repeat(40),
];

/** Pieces that matter to a parser of JSON or of GraphQL. */
const fragments = [
  ...wordsOf('{ } [ ] " , : \\ \\u0000 \\ud800 \\u // /* # ... ! $ @ | & null true __typename """'),
  ...wordsOf('1e400 1e-400 -0 01 1.5 9223372036854775807 9223372036854775808'),
  '1'.repeat(500),
  '"__proto__":{"polluted":true},',
  '"constructor":1,',
  '"alias":"a","alias":"b",',
  '[['.repeat(40),
  '{"a":'.repeat(70),
  '\u0000',
  '\ufeff',
  '\u2028',
  '@skip(if: true)',
  '@include(if: $x)',
  'fragment A on Query { ...A }',
];

/** JSON texts for a body or a value in it: valid, malformed, too deep, and, as Latin-1, not in UTF-8. */
const jsonBodies = [
  ...wordsOf('0 -0 1e65 "x" null true [] {} [[]] {"a":1,"a":2} {"__proto__":{"polluted":true}}'),
  ...wordsOf('[1,] [,] {"a":1,} {"a" {a:1} {1:1} [01] [1.] [.5] [+1] [1e] [0x42] [NaN] [fals] 1] [] ""x // {]'),
  ...['[1 true]', '["a\nb"]', '["\\x00"]', '["\\u00A"]', "['a']", '[\u000b1]', '{"a":/**/1}', '1'.repeat(400)],
  ...['['.repeat(500) + ']'.repeat(500), '['.repeat(50_000), '[{"":'.repeat(20_000)],
  ...['"\xff"', '"\x81"', '"\xed\xa0\x80"', '"\xf4\xbf\xbf\xbf"', '\xef\xbb\xbf', '\xff\xfe[\0]\0'],
].map((text) => Buffer.from(text, 'latin1'));

const texts = wordsOf('alias certificate oauth_client_id org_id apply_policy_id date_created last_updated key_id');
const lists = wordsOf('tags apply_policies mtls_static_certificate_bindings');
const numbers = wordsOf('rate per expires quota_max quota_renewal_rate max_query_depth throttle_interval last_check');
const numberTexts = wordsOf('0 -1 -2 1.5 1e3 9223372036854775807 9223372036854775808 1e400 1e-400 -0 "5" null []');
const methods = wordsOf('GET POST PUT DELETE PATCH HEAD OPTIONS TRACE PROPFIND QUERY');

const documents = [
  'query($input: PreviewKeyInput!) { previewKey(input: $input) { keyID keyHash data { alias tags rate hmacStringSet jwtData { secretSet } } warnings { path code } } }',
  'mutation($id: ID!, $input: UpdateKeyInput!) { updateOrgKey(keyID: $id, input: $input) { action key keyHash status version orgKey { definition { alias expires metaData } } } }',
  'mutation M($id: ID!, $input: UpdateKeyInput!) { a: updateOrgKey(keyID: $id, input: $input, resetQuota: true, expectedVersion: 1) { version } }',
  'mutation P($id: ID!, $input: PatchKeyInput!) { patchOrgKey(keyID: $id, patch: $input) { version issues { path code } orgKey { definition { alias expires metaData } } } }',
  'query Q($input: PreviewKeyInput!) { ...F } fragment F on Query { previewKey(input: $input) { ... on KeyPreview { keyHash apiModel } } }',
  '{ previewKey(input: {alias: "a", rate: 1.5, expires: "9007199254740993", tags: ["a"], metaData: {a: [1, null, {b: true}]}, accessRights: [{label: "x", limit: {rate: 1}}]}) { keyHash data { metaData expires } } }',
  'mutation { updateOrgKey(keyID: "no-such-key", input: {alias: "a"}) { version } }',
  '{ __schema { queryType { name } types { name } } }',
  '{ __typename a: __typename }',
];

/** Makes the inputs of a run. Each depends on the seed and on its number alone. */
export function createInputs(
  seed: number,
  { management, service, keyIDs, canaries }: FuzzContext,
): (number: number) => Input {
  const pool = [
    ...fc.sample(definitions, { numRuns: 250, seed }),
    ...fc.sample(sharedDefinition, { numRuns: 250, seed }),
  ]
    .filter((definition) => jsonText(definition).length < 20_000)
    .map(withCanaries);
  const guarded = keyIDs.at(-1) ?? '';

  /** Replaces the generator's own secrets by markers that can be searched for. */
  function withCanaries(value: Wire): Wire {
    if (value === 's3cret') return canaries.hmac;
    if (value === 'p4ssword') return canaries.password;
    if (Array.isArray(value)) return value.map(withCanaries);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withCanaries(member)]));
  }

  const loadedLightly: WireObject = {
    alias: 'loaded',
    jwt_data: { secret: canaries.jwt },
    hmac_string: canaries.hmac,
  };
  const loadedFully: WireObject = { ...loadedLightly, basic_auth_data: { user: 'ada', password: canaries.password } };
  /** Hashing a password takes longer than all the rest, and a queue of them is no news. */
  const loadedFor = (random: Random) => (random.below(8) === 0 ? loadedFully : loadedLightly);

  function credentials(random: Random): Header[] {
    const of = (managementValue: string, serviceValue: string): Header[] => [
      ['authorization', managementValue],
      ['x-svc-authorization', serviceValue],
    ];
    const valid = of(`Bearer ${management}`, service);
    const roll = random.below(20);
    if (roll === 0) return [];
    if (roll === 1) return of(`Bearer ${canaries.credential}`, canaries.credential);
    if (roll === 2) return of(`Bearer ${service}`, management);
    return roll === 3 ? [...valid, ...valid] : valid;
  }

  const withJSON = (random: Random): Header[] => [...credentials(random), ['content-type', 'application/json']];

  /** A target and method for a definition, and the body that carries it there. */
  function addressed(random: Random, kind: string, definition: string, graphqlDefinition?: string): Input {
    const headers = withJSON(random);
    const keyID = random.pick([...keyIDs.slice(0, -1), ...keyIDs.slice(0, -1), canaries.unknownKeyID]);
    const way = random.below(graphqlDefinition === undefined ? 3 : 5);
    const rest = { kind, headers, body: Buffer.from(definition), isIntact: true };
    if (way === 0) return { ...rest, method: 'POST', target: '/api/keys/preview' };
    if (way === 1) {
      const query = random.pick(['', '', '', '?reset_quota=1', '?reset_quota=2', '?reset_quota=1&reset_quota=1']);
      return {
        ...rest,
        method: random.pick(['PUT', 'PATCH']),
        target: `/svc/org/keys/${encodeURIComponent(keyID)}${query}`,
      };
    }
    if (way === 2) {
      const ifMatch = random.pick(['"999999999"', '"0"', 'W/"1"', canaries.credential]);
      const more: Header[] = [...headers, ['if-match', ifMatch]];
      return { ...rest, method: random.pick(['PUT', 'PATCH']), target: `/svc/org/keys/${guarded}`, headers: more };
    }
    const document = documents[way === 3 ? 0 : random.pick([1, 2, 3])] ?? '';
    const body = `{"query":${JSON.stringify(document)},"variables":{"id":${JSON.stringify(keyID)},"input":${graphqlDefinition}}}`;
    return { ...rest, method: 'POST', target: '/graphql', body: Buffer.from(body) };
  }

  const inBothAPIs = (random: Random, kind: string, definition: Wire) =>
    addressed(random, kind, jsonText(definition), jsonText(graphqlOf(definition)));

  const makers: readonly ((random: Random) => Input)[] = [
    function definitionFromPool(random) {
      return inBothAPIs(random, 'definition', random.pick(pool));
    },
    function loadedDefinition(random) {
      const flawed: Wire = {
        ...loadedFor(random),
        [random.pick([...numbers, ...texts, ...lists])]: random.pick([true, {}, -2, '\0', null]),
      };
      return inBothAPIs(random, 'definition with secrets', flawed);
    },
    function naughtyDefinition(random) {
      const definition: Wire = {
        ...loadedFor(random),
        [random.pick(texts)]: random.pick(naughty),
        [random.pick(lists)]: [random.pick(naughty), random.pick(naughty)],
        meta_data: Object.fromEntries([[random.pick(naughty), random.pick(naughty)]]),
        access_rights: Object.fromEntries([[random.pick(naughty), { api_id: random.pick(naughty) }]]),
      };
      return inBothAPIs(random, 'naughty strings', definition);
    },
    function numericDefinition(random) {
      const text = `{"${random.pick(numbers)}":${random.pick(numberTexts)},"meta_data":{"n":${random.pick(numberTexts)}}}`;
      return addressed(random, 'numbers', text);
    },
    function jsonBody(random) {
      const bytes = random.pick(jsonBodies);
      const wrappings: readonly (readonly [string, string])[] = [
        ['', ''],
        ['{"meta_data":', '}'],
        ['{"tags":[', ']}'],
        ['{"query":"{__typename}","variables":', '}'],
      ];
      const [before, after] = random.pick(wrappings);
      const input = addressed(random, 'JSON text', '');
      const target = random.pick([input.target, '/graphql']);
      const method = target === '/graphql' ? 'POST' : input.method;
      return { ...input, target, method, body: Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]) };
    },
    function mutatedDefinition(random) {
      const input = inBothAPIs(random, 'mutated definition', random.pick([loadedFor(random), random.pick(pool)]));
      return { ...input, body: mutated(random, input.body), isIntact: false };
    },
    function mutatedDocument(random) {
      const document = mutated(random, Buffer.from(random.pick(documents))).toString('utf8');
      const definition = random.pick([loadedFor(random), random.pick(pool)]);
      const keyID = JSON.stringify(random.pick(keyIDs.slice(0, -1)));
      const variables = `{"id":${keyID},"input":${jsonText(graphqlOf(definition))}}`;
      const accept = wordsOf(
        'text/event-stream multipart/mixed text/html application/graphql-response+json */*;q=0',
      ).map((type): Header => ['accept', type]);
      const headers = [...withJSON(random), ...random.pick([[], [], [random.pick(accept)]])];
      const kind = 'mutated document';
      if (random.below(6) === 0) {
        const [query, values] = [document, variables].map((text) => encodeURIComponent(text.toWellFormed()));
        const target = `/graphql?query=${query}&variables=${values}`.slice(0, 12_000);
        return { kind: `${kind} by GET`, method: 'GET', target, headers, body: Buffer.alloc(0), isIntact: false };
      }
      const more = random.pick(['', '', ',"operationName":"M"', ',"operationName":7', ',"extensions":{"a":[]}']);
      const body = Buffer.from(`{"query":${JSON.stringify(document)},"variables":${variables}${more}}`);
      return { kind, method: 'POST', target: '/graphql', headers, body, isIntact: false };
    },
    function oddTarget(random) {
      const pieces = [
        ...wordsOf('api keys preview svc org graphql health ready . .. %2e%2e %2f %5c %ff %00 % %E2%80%AE ;a=b'),
        '',
        canaries.unknownKeyID,
        random.pick(keyIDs),
        encodeURIComponent(random.pick(naughty).toWellFormed()),
      ];
      const own = Array.from({ length: 1 + random.below(5) }, () => random.pick(pieces)).join('/');
      const path = random.pick([
        `/${own}`,
        `/svc/org/keys/${random.pick(pieces)}${random.pick(pieces)}`,
        `//${own}`,
        own,
        `http://other.example/${own}`,
        `/api/keys/preview/${own}`,
      ]);
      const queries = [
        ...['', ''],
        ...wordsOf('? ?reset_quota=1 ?reset_quota=01 ?reset_quota=%31 ?RESET_QUOTA=1 ?reset_quota[]=1'),
        `?token=${canaries.credential}`,
        '?query={__typename}',
        `?${encodeURIComponent(random.pick(naughty).toWellFormed())}`,
        ...wordsOf('?% ?&&& ?a=b?c=d#e'),
      ];
      const method = random.pick(methods);
      // A key that is deleted would leave the rest of the run with nothing to change.
      const query = method === 'DELETE' ? '?a=b' : random.pick(queries);
      const target = (path + query).replace(/[\s\0]/g, '+') || '/';
      const body = Buffer.from(random.pick(['', '{}', jsonText(loadedFor(random))]));
      return { kind: 'odd target', method, target, headers: withJSON(random), body, isIntact: true };
    },
    function oddHeaders(random) {
      const value = () =>
        random.pick([...naughty, canaries.credential, `Bearer ${canaries.credential}`]).replace(/[\r\n\0]/g, ' ');
      const types = [
        'text/plain',
        'application/json; charset=utf-16',
        'application/json;a=b',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ];
      const odd: Header[] = [
        ['content-type', random.pick([...types, value()])],
        ['accept', value()],
        ['content-encoding', random.pick(['gzip', 'br', 'identity', value()])],
        ['if-match', random.pick(['*', '"1"', value()])],
        ['authorization', value()],
        ['x-svc-authorization', value()],
        ['cookie', value()],
        ['x-forwarded-for', value()],
        ['x-request-id', value()],
        ['origin', 'https://evil.example'],
        ['expect', '100-continue'],
        ['upgrade', 'websocket'],
        ['range', 'bytes=0-0'],
        ['x-http-method-override', 'PUT'],
        ['host', value()],
      ];
      const base = inBothAPIs(random, 'odd headers', loadedFor(random));
      const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(odd));
      const kept = base.headers.filter(([name]) => random.below(3) > 0 || !chosen.some(([other]) => other === name));
      return { ...base, headers: [...kept, ...chosen] };
    },
    function noise(random) {
      const input = addressed(random, 'noise', '');
      const body = Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
      const target = random.pick([input.target, '/graphql']);
      return { ...input, target, method: 'POST', body, isIntact: false };
    },
  ];

  return (number) => {
    const random = createRandom((seed ^ Math.imul(number + 1, 0x9e3779b1)) >>> 0);
    return random.pick(makers)(random);
  };
}

/** A copy with a few bytes changed, cut out, doubled, moved, or joined by something that matters to a parser. */
function mutated(random: Random, original: Buffer): Buffer {
  let bytes = original;
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + random.below(random.pick([2, 8, 64])));
    const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    switch (random.below(7)) {
      case 0: {
        const flipped = Buffer.from(bytes);
        if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
        bytes = flipped;
        break;
      }
      case 1:
        bytes = Buffer.concat([before, after]);
        break;
      case 2:
        bytes = Buffer.concat([before, piece, piece, after]);
        break;
      case 3:
        bytes = Buffer.concat([before, Buffer.from(random.pick(fragments)), after]);
        break;
      case 4:
        bytes = Buffer.concat([before, Buffer.from(random.pick(naughty)), bytes.subarray(at)]);
        break;
      case 5:
        bytes = Buffer.concat([after, before, piece]);
        break;
      default:
        bytes =
          random.below(4) === 0
            ? before
            : Buffer.concat([before, Buffer.from([random.below(256)]), bytes.subarray(at)]);
    }
  }
  return bytes.subarray(0, 100_000);
}
