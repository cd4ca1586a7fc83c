// The requests: two operations with key definitions of about forty fields and three access rights.
import { getNamedType, isLeafType, isUnionType, parse, print } from 'graphql';
import { schema } from '../../build/graphql/schema/api-schema.js';
import { definitionToWire } from '../../build/wire/field-names.js';

/** Number of different definitions. */
export const variants = 256;
export const keys = 1_000;
const apis = ['billing', 'orders', 'reports'];

export const keyIDOf = (/** @type {number} */ key) => `bench-${String(key).padStart(4, '0')}`;

/** Returns a definition in normal form, without warnings. Variants differ only in fields that an update changes. */
function definitionOf(/** @type {number} */ variant, /** @type {string} */ name) {
  const limit = { per: 60, quotaMax: 1000 + variant, quotaRemaining: 900, quotaRenewalRate: 3600, rate: 10.5 };
  return {
    accessRights: apis.map((api, index) => ({
      label: api,
      apiID: api,
      apiName: `The API of ${api}, version ${variant}`,
      versions: ['Default', 'v2'],
      allowedUrls: [
        { methods: ['GET', 'POST', 'PUT'], url: `/${api}/${variant}/.*` },
        { methods: ['GET'], url: `/${api}/archive/.*` },
        { methods: ['GET', 'DELETE'], url: `/${api}/drafts/.*` },
      ],
      limit: { ...limit, throttleInterval: 1.5, throttleRetryLimit: index + 1 },
    })),
    alias: `Customer ${name}, production`,
    allowance: 0.5,
    applyPolicies: ['gold', 'europe-west'],
    certificate: `certificate-of-${name}-issued-by-the-house-authority`,
    dataExpires: 86_400,
    enableDetailedRecording: variant % 2 === 0,
    expires: 4_102_444_800,
    hmacEnabled: true,
    idExtractorDeadline: 4_102_444_801,
    isInactive: false,
    lastCheck: 1_700_000_000 + variant,
    maxQueryDepth: 12,
    metaData: {
      team: 'payments',
      contact: `${name}@example.test`,
      ticket: variant,
      plan: { name: 'gold', seats: [5, 10] },
      notes: 'Requested by the team of payments; see the ticket for who approved it and until when it is to hold.',
      approvedBy: ['someone@example.test', 'someone.else@example.test'],
    },
    monitor: { triggerLimits: [90, 75.5, 50] },
    oauthClientID: `client-${name}`,
    oauthKeys: { [`client-${name}`]: 'token-hash', [`client-${name}-before`]: 'token-hash-of-before' },
    orgID: 'bench',
    per: 60,
    quotaMax: 10_000 + variant,
    quotaRemaining: 9_000,
    quotaRenewalRate: 2_592_000,
    quotaRenews: 4_102_444_802,
    rate: 100.25,
    sessionLifetime: 7200,
    smoothing: { delay: 30, enabled: true, step: 10, threshold: 50, trigger: 0.8 },
    tags: ['production', `team-${name}`],
    throttleInterval: 2.5,
    throttleRetryLimit: 4,
  };
}

const previewOf = (/** @type {number} */ variant) => ({
  ...definitionOf(variant, `preview-${variant}`),
  basicAuthData: { hashType: 'bcrypt', password: `pa55word-${variant}`, user: `user-${variant}` },
  hmacString: `hmac-5ecret-${variant}`,
  jwtData: { secret: `jwt-5ecret-${variant}` },
  keyID: `preview-${variant}`,
  mtlsStaticCertificateBindings: ['certificate-2'],
});

/** Returns an update without secrets, because password hashes would dominate the figures. */
const updateOf = (/** @type {number} */ variant, /** @type {number} */ key) => ({
  ...definitionOf(variant, keyIDOf(key)),
  basicAuthData: { user: keyIDOf(key) },
  enableHttpSignatureValidation: false,
  rsaCertificateID: 'rsa-1',
});

/** Returns the initial keys as lines for `keyfront keys import`. */
export const importLines = () =>
  Array.from({ length: keys }, (_, key) =>
    JSON.stringify({ key_id: keyIDOf(key), ...definitionToWire(updateOf(0, key)) }),
  );

/** Returns the selection of all fields of a type and of their types, except what policies grant: the others have none. */
function selectionOf(/** @type {import('graphql').GraphQLOutputType} */ outputType) {
  const type = getNamedType(outputType);
  if (isLeafType(type)) return '';
  if (isUnionType(type)) return ` { ... on ${type.getTypes()[0]}${selectionOf(type.getTypes()[0])} }`;
  const fields = Object.values(type.getFields())
    .filter(({ name }) => name !== 'effective')
    .map((field) => `${field.name}${selectionOf(field.type)}`);
  return ` { ${fields.join(' ')} }`;
}

/**
 * Returns the two operations for a schema: our own, or the one that Mesh generates from our OpenAPI document, with the
 * names of REST and a mutation for every method but GET.
 */
export function workloadsOf(/** @type {import('graphql').GraphQLSchema} */ schema) {
  const [queries, mutations] = [schema.getQueryType(), schema.getMutationType()].map((type) => type?.getFields() ?? {});
  const isOurs = queries.previewKey !== undefined;
  const named = (/** @type {object} */ definition) => (isOurs ? definition : definitionToWire(definition));
  const typeOf = (/** @type {any} */ field, /** @type {string} */ name) =>
    String(field.args.find((/** @type {any} */ argument) => argument.name === name).type);

  const preview = queries.previewKey ?? mutations.previewKey;
  const previewText = `${isOurs ? 'query' : 'mutation'} Preview($input: ${typeOf(preview, 'input')}) { previewKey(input: $input)${selectionOf(preview.type)} }`;

  const update = mutations.updateOrgKey;
  const reset = isOurs ? 'resetQuota' : 'reset_quota';
  const types = `$keyID: ${typeOf(update, 'keyID')}, $input: ${typeOf(update, 'input')}, $reset: ${typeOf(update, reset)}`;
  const selection = isOurs
    ? 'action key keyHash status version orgKey { definition { quotaRemaining quotaRenews lastUpdated } }'
    : '... on OrgKeyUpdate { action key key_hash status }';
  const updateText = `mutation Update(${types}) { updateOrgKey(keyID: $keyID, input: $input, ${reset}: $reset) { ${selection} } }`;

  // Clients send documents of many lines, whose line feeds are escape sequences in JSON.
  const body = (/** @type {string} */ operationName, /** @type {string} */ text, /** @type {object} */ variables) =>
    JSON.stringify({ operationName, query: print(parse(text)), variables });
  return {
    preview: {
      bodies: Array.from({ length: variants }, (_, variant) =>
        body('Preview', previewText, { input: named(previewOf(variant)) }),
      ),
      good: isOurs ? '"keyHash":"' : '"key_hash":"',
    },
    update: {
      // The number of keys is no multiple of the number of variants, so the next definition of a key always differs.
      bodies: Array.from({ length: 2 * keys }, (_, index) => {
        const input = named(updateOf(index % variants, index % keys));
        return body('Update', updateText, { keyID: keyIDOf(index % keys), input, reset: isOurs ? true : '_1' });
      }),
      good: '"status":"ok"',
    },
  };
}

const previewInput = (/** @type {number} */ variant) => definitionToWire(previewOf(variant));

/** The same definitions in requests of the REST API. */
const restWorkloads = {
  'rest-preview': {
    bodies: Array.from({ length: variants }, (_, variant) => ({
      method: 'POST',
      path: '/api/keys/preview',
      body: JSON.stringify(previewInput(variant)),
    })),
    good: '"key_hash":"',
  },
  'rest-update': {
    bodies: Array.from({ length: 2 * keys }, (_, index) => ({
      method: 'PUT',
      path: `/svc/org/keys/${keyIDOf(index % keys)}?reset_quota=1`,
      body: JSON.stringify(definitionToWire(updateOf(index % variants, index % keys))),
    })),
    good: '"status":"ok"',
  },
};

/** The requests of every workload; those of GraphQL are for our own schema. */
export const ownWorkloads = { ...workloadsOf(schema), ...restWorkloads };
