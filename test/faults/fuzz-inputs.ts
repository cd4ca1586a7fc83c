import fc from 'fast-check';
import { jsonCases } from '../system/hostile/json-cases.js';
import { definitions, sharedDefinition } from '../system/parity/definitions.js';
import { graphqlOf, isObject, jsonText, type Wire, type WireObject } from '../system/parity/wire.js';
import { createRandom } from '../support/generated.js';

/** A request as it goes over the wire. */
export interface Input {
  readonly kind: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
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

const naughty = [
  '',
  ' ',
  'undefined',
  'null',
  'NaN',
  '-0',
  '1e400',
  '0x7fffffffffffffff',
  '9223372036854775808',
  "' OR 1=1 --",
  '"; DROP TABLE keys; --',
  '<script>alert(1)</script>',
  '../../../etc/passwd%00',
  '%s%s%s%n',
  '${jndi:ldap://x/a}',
  '{{7*7}}',
  '$(touch /tmp/x)',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff x',
  '\ufeff',
  '\u202e\u2066',
  '\u0001\u001b[2J',
  '\r\nSet-Cookie: a=b',
  '👩‍👩‍👧‍👦',
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘',
  'ﷺ',
  '社會科學院語學研究所',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__typename',
  '__schema',
  '*',
  '***',
  '<PASSWORD>',
  '(a+)+$',
  'x'.repeat(300),
  '\\'.repeat(40),
  '"'.repeat(40),
];

const fragments = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    '\\',
    '\\u0000',
    '\\ud800',
    '\\u',
    '//',
    '/*',
    '#',
    '...',
    '!',
    '$',
    '@',
    '|',
    '&',
  ],
  ...[
    'null',
    'true',
    '1e400',
    '1e-400',
    '-0',
    '01',
    '1.5',
    '9223372036854775807',
    '9223372036854775808',
    '1'.repeat(500),
  ],
  ...[
    '"__proto__":{"polluted":true},',
    '"constructor":1,',
    '"alias":"a","alias":"b",',
    '[['.repeat(40),
    '{"a":'.repeat(70),
  ],
  ...[
    '\u0000',
    '\ufeff',
    '\u2028',
    '"""',
    '@skip(if: true)',
    '@include(if: $x)',
    '__typename',
    'fragment A on Query { ...A }',
  ],
];

const texts = [
  'alias',
  'certificate',
  'oauth_client_id',
  'org_id',
  'apply_policy_id',
  'date_created',
  'last_updated',
  'key_id',
];
const lists = ['tags', 'apply_policies', 'mtls_static_certificate_bindings'];
const numbers = [
  'rate',
  'per',
  'expires',
  'quota_max',
  'quota_renewal_rate',
  'max_query_depth',
  'throttle_interval',
  'last_check',
];
const numberTexts = [
  '0',
  '-1',
  '-2',
  '1.5',
  '1e3',
  '9223372036854775807',
  '9223372036854775808',
  '1e400',
  '1e-400',
  '-0',
  '"5"',
  'null',
  '[]',
];

const documents = [
  'query($input: PreviewKeyInput!) { previewKey(input: $input) { keyID keyHash data { alias tags rate hmacStringSet jwtData { secretSet } } warnings { path code } } }',
  'mutation($id: ID!, $input: UpdateKeyInput!) { updateOrgKey(keyID: $id, input: $input) { action key keyHash status version definition { alias expires metaData } } }',
  'mutation M($id: ID!, $input: UpdateKeyInput!) { a: updateOrgKey(keyID: $id, input: $input, resetQuota: true, expectedVersion: 1) { version } }',
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

  function credentials(random: Random): (readonly [string, string])[] {
    const roll = random.below(20);
    if (roll === 0) return [];
    if (roll === 1)
      return [
        ['authorization', `Bearer ${canaries.credential}`],
        ['x-svc-authorization', canaries.credential],
      ];
    if (roll === 2)
      return [
        ['authorization', `Bearer ${service}`],
        ['x-svc-authorization', management],
      ];
    if (roll === 3) {
      return [
        ['authorization', `Bearer ${management}`],
        ['authorization', `Bearer ${management}`],
        ['x-svc-authorization', service],
        ['x-svc-authorization', service],
      ];
    }
    return [
      ['authorization', `Bearer ${management}`],
      ['x-svc-authorization', service],
    ];
  }

  /** A target and method for a definition, and the body that carries it there. */
  function addressed(
    random: Random,
    kind: string,
    definition: string,
    isIntact: boolean,
    graphqlDefinition?: string,
  ): Input {
    const headers = [...credentials(random), ['content-type', 'application/json'] as const];
    const keyID = random.pick([...keyIDs.slice(0, -1), ...keyIDs.slice(0, -1), canaries.unknownKeyID]);
    const way = random.below(graphqlDefinition === undefined ? 3 : 5);
    if (way === 0)
      return { kind, method: 'POST', target: '/api/keys/preview', headers, body: Buffer.from(definition), isIntact };
    if (way === 1) {
      const query = random.pick(['', '', '', '?reset_quota=1', '?reset_quota=2', '?reset_quota=1&reset_quota=1']);
      return {
        kind,
        method: 'PUT',
        target: `/svc/org/keys/${encodeURIComponent(keyID)}${query}`,
        headers,
        body: Buffer.from(definition),
        isIntact,
      };
    }
    if (way === 2) {
      const ifMatch = random.pick(['"999999999"', '"0"', 'W/"1"', canaries.credential]);
      return {
        kind,
        method: 'PUT',
        target: `/svc/org/keys/${guarded}`,
        headers: [...headers, ['if-match', ifMatch]],
        body: Buffer.from(definition),
        isIntact,
      };
    }
    const document = documents[way === 3 ? 0 : random.pick([1, 2])] ?? '';
    const body = `{"query":${JSON.stringify(document)},"variables":{"id":${JSON.stringify(keyID)},"input":${graphqlDefinition}}}`;
    return { kind, method: 'POST', target: '/graphql', headers, body: Buffer.from(body), isIntact };
  }

  const makers: readonly ((random: Random) => Input)[] = [
    function definitionFromPool(random) {
      const definition = random.pick(pool);
      return addressed(random, 'definition', jsonText(definition), true, jsonText(graphqlOf(definition)));
    },
    function loadedDefinition(random) {
      const flawed: Wire = {
        ...loadedFor(random),
        [random.pick([...numbers, ...texts, ...lists])]: random.pick([true, {}, -2, '\0', null]),
      };
      return addressed(random, 'definition with secrets', jsonText(flawed), true, jsonText(graphqlOf(flawed)));
    },
    function naughtyDefinition(random) {
      const definition: Wire = {
        ...loadedFor(random),
        [random.pick(texts)]: random.pick(naughty),
        [random.pick(lists)]: [random.pick(naughty), random.pick(naughty)],
        meta_data: Object.fromEntries([[random.pick(naughty), random.pick(naughty)]]),
        access_rights: Object.fromEntries([[random.pick(naughty), { api_id: random.pick(naughty) }]]),
      };
      return addressed(random, 'naughty strings', jsonText(definition), true, jsonText(graphqlOf(definition)));
    },
    function numericDefinition(random) {
      const text = `{"${random.pick(numbers)}":${random.pick(numberTexts)},"meta_data":{"n":${random.pick(numberTexts)}}}`;
      return addressed(random, 'numbers', text, true);
    },
    function jsonCase(random) {
      const { json } = random.pick(jsonCases);
      const bytes = typeof json === 'string' ? Buffer.from(json) : Buffer.from(json);
      const wrappings: readonly (readonly [string, string])[] = [
        ['', ''],
        ['{"meta_data":', '}'],
        ['{"tags":[', ']}'],
        ['{"query":"{__typename}","variables":', '}'],
      ];
      const [before, after] = random.pick(wrappings);
      const input = addressed(random, 'JSON suite', '', true);
      const target = random.pick([input.target, '/graphql']);
      return {
        ...input,
        target,
        method: target === '/graphql' ? 'POST' : input.method,
        body: Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]),
      };
    },
    function mutatedDefinition(random) {
      const definition = random.pick([loadedFor(random), random.pick(pool)]);
      const input = addressed(
        random,
        'mutated definition',
        jsonText(definition),
        false,
        jsonText(graphqlOf(definition)),
      );
      return { ...input, body: mutated(random, input.body) };
    },
    function mutatedDocument(random) {
      const document = mutated(random, Buffer.from(random.pick(documents))).toString('utf8');
      const variables = `{"id":${JSON.stringify(random.pick(keyIDs.slice(0, -1)))},"input":${jsonText(graphqlOf(random.pick([loadedFor(random), random.pick(pool)])))}}`;
      const headers = [...credentials(random), ['content-type', 'application/json'] as const];
      const accept = random.pick([
        [],
        [],
        [
          [
            'accept',
            random.pick([
              'text/event-stream',
              'multipart/mixed',
              'text/html',
              'application/graphql-response+json',
              '*/*;q=0',
            ]),
          ] as const,
        ],
      ]);
      if (random.below(6) === 0) {
        const target =
          `/graphql?query=${encodeURIComponent(document.toWellFormed())}&variables=${encodeURIComponent(variables.toWellFormed())}`.slice(
            0,
            12_000,
          );
        return {
          kind: 'mutated document by GET',
          method: 'GET',
          target,
          headers: [...headers, ...accept],
          body: Buffer.alloc(0),
          isIntact: false,
        };
      }
      const body = `{"query":${JSON.stringify(document)},"variables":${variables}${random.pick(['', '', ',"operationName":"M"', ',"operationName":7', ',"extensions":{"a":[]}'])}}`;
      return {
        kind: 'mutated document',
        method: 'POST',
        target: '/graphql',
        headers: [...headers, ...accept],
        body: Buffer.from(body),
        isIntact: false,
      };
    },
    function oddTarget(random) {
      const pieces = [
        'api',
        'keys',
        'preview',
        'svc',
        'org',
        'graphql',
        'health',
        'ready',
        '',
        '.',
        '..',
        '%2e%2e',
        '%2f',
        '%5c',
        '%ff',
        '%00',
        '%',
        '%E2%80%AE',
        ';a=b',
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
        '',
        '',
        '?',
        '?reset_quota=1',
        '?reset_quota=01',
        '?reset_quota=%31',
        '?RESET_QUOTA=1',
        '?reset_quota[]=1',
        `?token=${canaries.credential}`,
        '?query={__typename}',
        `?${encodeURIComponent(random.pick(naughty).toWellFormed())}`,
        '?%',
        '?&&&',
        '?a=b?c=d#e',
      ];
      const method = random.pick([
        'GET',
        'POST',
        'PUT',
        'DELETE',
        'PATCH',
        'HEAD',
        'OPTIONS',
        'TRACE',
        'PROPFIND',
        'QUERY',
      ]);
      // A key that is deleted would leave the rest of the run with nothing to change.
      const query = method === 'DELETE' ? '?a=b' : random.pick(queries);
      const target = (path + query).replace(/[\s\0]/g, '+') || '/';
      return {
        kind: 'odd target',
        method,
        target,
        headers: [...credentials(random), ['content-type', 'application/json']],
        body: Buffer.from(random.pick(['', '{}', jsonText(loadedFor(random))])),
        isIntact: true,
      };
    },
    function oddHeaders(random) {
      const value = () =>
        random.pick([...naughty, canaries.credential, `Bearer ${canaries.credential}`]).replace(/[\r\n\0]/g, ' ');
      const odd: (readonly [string, string])[] = [
        [
          'content-type',
          random.pick([
            'text/plain',
            'application/json; charset=utf-16',
            'application/json;a=b',
            'application/x-www-form-urlencoded',
            'multipart/form-data; boundary=x',
            value(),
          ]),
        ],
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
      const base = addressed(
        random,
        'odd headers',
        jsonText(loadedFor(random)),
        true,
        jsonText(graphqlOf(loadedFor(random))),
      );
      const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(odd));
      const kept = base.headers.filter(([name]) => random.below(3) > 0 || !chosen.some(([other]) => other === name));
      return { ...base, headers: [...kept, ...chosen] };
    },
    function noise(random) {
      const input = addressed(random, 'noise', '', false);
      const bytes = Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
      return { ...input, target: random.pick([input.target, '/graphql']), method: 'POST', body: bytes };
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
