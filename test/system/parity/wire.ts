/*
 * Definitions as JSON text, and what they are called in GraphQL. Written by hand from the key API's document and from
 * the naming rule in the README, beside and not with what src/ does: the parity suite holds the two against each other.
 */

/** A number by its JSON text, so that a test can send what no double holds. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value whose numbers may be texts. */
export type Wire = null | boolean | number | string | NumberText | readonly Wire[] | WireObject;

export interface WireObject {
  readonly [name: string]: Wire;
}

/** Writes a value as JSON, with its numbers as they are. */
export function jsonText(value: Wire): string {
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

export function isObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

/** The fields below a field: members of an object, of a list's objects, or of the entries of a map of labels. */
export interface Inside {
  readonly kind: 'object' | 'list' | 'map';
  readonly fields: Fields;
}

export type Fields = Readonly<Record<string, readonly [graphql: string, inside?: Inside]>>;

const limit: Fields = {
  per: ['per'],
  quota_max: ['quotaMax'],
  quota_remaining: ['quotaRemaining'],
  quota_renewal_rate: ['quotaRenewalRate'],
  rate: ['rate'],
  throttle_interval: ['throttleInterval'],
  throttle_retry_limit: ['throttleRetryLimit'],
};

const accessRight: Fields = {
  api_id: ['apiID'],
  api_name: ['apiName'],
  versions: ['versions'],
  allowed_urls: ['allowedUrls', { kind: 'list', fields: { methods: ['methods'], url: ['url'] } }],
  limit: ['limit', { kind: 'object', fields: limit }],
};

/** Every field of the document, in its order, by its name there, with its name in GraphQL. */
export const fields: Fields = {
  access_rights: ['accessRights', { kind: 'map', fields: accessRight }],
  alias: ['alias'],
  allowance: ['allowance'],
  apply_policies: ['applyPolicies'],
  apply_policy_id: ['applyPolicyID'],
  basic_auth_data: [
    'basicAuthData',
    { kind: 'object', fields: { hash_type: ['hashType'], password: ['password'], user: ['user'] } },
  ],
  certificate: ['certificate'],
  mtls_static_certificate_bindings: ['mtlsStaticCertificateBindings'],
  data_expires: ['dataExpires'],
  date_created: ['dateCreated'],
  enable_detailed_recording: ['enableDetailedRecording'],
  enable_detail_recording: ['enableDetailRecording'],
  enable_http_signature_validation: ['enableHttpSignatureValidation'],
  expires: ['expires'],
  hmac_enabled: ['hmacEnabled'],
  hmac_string: ['hmacString'],
  id_extractor_deadline: ['idExtractorDeadline'],
  is_inactive: ['isInactive'],
  jwt_data: ['jwtData', { kind: 'object', fields: { secret: ['secret'] } }],
  key_id: ['keyID'],
  last_check: ['lastCheck'],
  last_updated: ['lastUpdated'],
  max_query_depth: ['maxQueryDepth'],
  meta_data: ['metaData'],
  monitor: ['monitor', { kind: 'object', fields: { trigger_limits: ['triggerLimits'] } }],
  oauth_client_id: ['oauthClientID'],
  oauth_keys: ['oauthKeys'],
  org_id: ['orgID'],
  per: ['per'],
  quota_max: ['quotaMax'],
  quota_remaining: ['quotaRemaining'],
  quota_renewal_rate: ['quotaRenewalRate'],
  quota_renews: ['quotaRenews'],
  rate: ['rate'],
  rsa_certificate_id: ['rsaCertificateID'],
  session_lifetime: ['sessionLifetime'],
  smoothing: [
    'smoothing',
    {
      kind: 'object',
      fields: {
        delay: ['delay'],
        enabled: ['enabled'],
        step: ['step'],
        threshold: ['threshold'],
        trigger: ['trigger'],
      },
    },
  ],
  tags: ['tags'],
  throttle_interval: ['throttleInterval'],
  throttle_retry_limit: ['throttleRetryLimit'],
};

const names = pairsOf(fields);
const toGraphQLName = new Map(names);
const toRESTName = new Map(names.map(([rest, graphql]) => [graphql, rest]));

function pairsOf(within: Fields): [rest: string, graphql: string][] {
  return Object.entries(within).flatMap(([rest, [graphql, inside]]) => [
    [rest, graphql] as [string, string],
    ...(inside ? pairsOf(inside.fields) : []),
  ]);
}

/** A field's name in the other face. A name of the wrong face is as unknown there as its counterpart is here. */
export function otherName(name: string): string {
  return toGraphQLName.get(name) ?? toRESTName.get(name) ?? name;
}

/** The GraphQL variable that means the same as a definition in REST. */
export function graphqlOf(definition: Wire): Wire {
  return renamed(definition, { kind: 'object', fields });
}

function renamed(value: Wire, inside: Inside | undefined): Wire {
  if (!inside) return value;
  if (inside.kind === 'list' && Array.isArray(value))
    return value.map((item: Wire) => membersRenamed(item, inside.fields));
  if (inside.kind === 'map' && isObject(value)) {
    return entriesOf(value).map(([label, entry]) => {
      const members = membersRenamed(entry, inside.fields);
      return isObject(members) ? { label, ...members } : members;
    });
  }
  return inside.kind === 'object' ? membersRenamed(value, inside.fields) : value;
}

function membersRenamed(value: Wire, within: Fields): Wire {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const exact = int64Fields.has(name) ? asDecimalString(member) : member;
      return [otherName(name), renamed(exact, fieldIn(within, name)?.[1])];
    }),
  );
}

/** The fields of 64-bit integers, in which GraphQL takes numbers up to 2^53-1 only. */
const int64Fields = new Set([
  'data_expires',
  'expires',
  'id_extractor_deadline',
  'last_check',
  'quota_max',
  'quota_remaining',
  'quota_renewal_rate',
  'quota_renews',
  'session_lifetime',
]);

/** An integer beyond 2^53-1 as a decimal string; one beyond 64 bits stays as it is. */
function asDecimalString(value: Wire): Wire {
  const integer = value instanceof NumberText ? integerIn(value.text) : undefined;
  const isBeyondDoubles = integer !== undefined && (integer > 2n ** 53n - 1n || integer < 1n - 2n ** 53n);
  // 2^63 as a number is IMPRECISE in GraphQL, because a gateway may have rounded it.
  const mayBeOfInt64 = integer !== undefined && (integer < 0n ? -integer : integer) <= 2n ** 63n;
  return isBeyondDoubles && mayBeOfInt64 ? String(integer) : value;
}

/** The integer that a JSON number stands for; undefined for a fraction and for a very large exponent. */
function integerIn(text: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent) - fraction.length;
  if (whole === '' || Math.abs(shift) > 400) return undefined;
  const digits = BigInt(`${whole}${fraction}${'0'.repeat(Math.max(shift, 0))}`);
  const divisor = 10n ** BigInt(Math.max(-shift, 0));
  if (digits % divisor !== 0n) return undefined;
  return sign === '-' ? -(digits / divisor) : digits / divisor;
}

/** In a map, null stands for an entry that is not there. */
function entriesOf(map: WireObject): [label: string, entry: Wire][] {
  return Object.entries(map).filter(([, entry]) => entry !== null);
}

function fieldIn(within: Fields, name: string): Fields[string] | undefined {
  return Object.hasOwn(within, name) ? within[name] : undefined;
}

/** A GraphQL path as REST writes it for the same definition: its own names, and labels instead of positions. */
export function restPath(path: string, definition: Wire): string {
  const steps = restSteps(stepsOf(path.replace(/^variables\.input\.?/, '')), { kind: 'object', fields }, definition);
  return steps.map((step, index) => (index === 0 || step.startsWith('[') ? step : `.${step}`)).join('');
}

/** Steps as a path writes them: a plain name, `["an odd name"]` cut to 64 characters, or `[1]`. */
function restSteps(steps: readonly string[], inside: Inside | undefined, value: Wire): string[] {
  const [step, ...rest] = steps;
  if (step === undefined || !inside) return [...steps];
  const position = /^\[(\d+)\]$/.exec(step)?.[1];
  if (position !== undefined) {
    const label = inside.kind === 'map' && isObject(value) ? entriesOf(value)[Number(position)]?.[0] : undefined;
    if (label !== undefined && rest.at(-1) === 'label') rest.pop();
    return [
      label === undefined ? step : stepOf(label),
      ...restSteps(rest, { kind: 'object', fields: inside.fields }, null),
    ];
  }
  const name = otherName(step);
  const below = isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
  return [name, ...restSteps(rest, fieldIn(inside.fields, name)?.[1], below)];
}

function stepsOf(path: string): string[] {
  const steps = [...path.matchAll(/(\[\d+\]|\["(?:[^"\\]|\\.)*"\])|\.?([\w-]+)/gy)];
  if (steps.map(([text]) => text).join('') !== path) throw new Error(`This is no path: ${path}`);
  return steps.map(([, bracketed, name = '']) => bracketed ?? name);
}

function stepOf(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : `[${JSON.stringify(name.slice(0, 64))}]`;
}

const secrets: Readonly<Record<string, string>> = {
  password: 'passwordSet',
  secret: 'secretSet',
  hmacString: 'hmacStringSet',
};
const moved = ['applyPolicyID', 'enableDetailRecording'];

/** A selection of everything that GraphQL shows of a definition. */
export const everything = selectionOf({ kind: 'object', fields });

function selectionOf({ kind, fields: within }: Inside): string {
  const members = Object.values(within).flatMap(([graphql, inside]) => {
    if (moved.includes(graphql)) return [];
    return [`${secrets[graphql] ?? graphql}${inside ? ` ${selectionOf(inside)}` : ''}`];
  });
  return `{ ${[...(kind === 'map' ? ['label'] : []), ...members].join(' ')} }`;
}

/** A definition as GraphQL returned it, in the form of REST: its names, no null, no secrets, labels as names. */
export function restOf(completed: unknown): unknown {
  return restMembers(completed, fields);
}

function restMembers(value: unknown, within: Fields): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      if (member === null || name === 'label' || Object.values(secrets).includes(name)) return [];
      const rest = toRESTName.get(name) ?? name;
      const inside = fieldIn(within, rest)?.[1];
      return [[rest, inside ? restInside(member, inside) : member]];
    }),
  );
}

function restInside(value: unknown, { kind, fields: within }: Inside): unknown {
  if (!Array.isArray(value)) return restMembers(value, within);
  if (kind === 'list') return value.map((item) => restMembers(item, within));
  return Object.fromEntries(value.map((entry: { label: string }) => [entry.label, restMembers(entry, within)]));
}

/** A copy whose integers beyond 2^53-1 are decimal strings, as GraphQL returns most of them. */
export function asGraphQLCounts(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return String(BigInt(value));
  if (Array.isArray(value)) return value.map(asGraphQLCounts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asGraphQLCounts(member)]));
}
