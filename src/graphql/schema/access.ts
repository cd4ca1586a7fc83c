import {
  accessCodes,
  proofs,
  type AccessCode,
  type AccessReason,
  type Proof,
} from '../../keys/access/decide-access.js';
import {
  effectiveLimits,
  inactiveOrigin,
  type AccessSources,
  type EffectiveRight,
  type EffectiveUrl,
} from '../../keys/access/effective-access.js';
import { effectiveRights } from '../../keys/access/effective-view.js';
import type { EffectiveLimits } from '../../keys/access/limits.js';
import type { LimitValues } from '../../keys/access/policy.js';
import { dateTimeRule, isDateTime } from '../../keys/definition/field-types.js';
import { KeyDefinition } from '../../keys/definition/schema.js';
import type { Explanation } from '../../keys/queries/explain-key.js';
import { AppError } from '../../lib/errors.js';
import { definitionPathText } from '../path-text.js';
import { withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { OrgKey, OrgKeyByInput } from './key.js';
import { KeyQuota } from './quota.js';
import { enumValuesOf, outputTypeFromZod } from './types-from-zod.js';

export const KeyLimitValues = outputTypeFromZod<LimitValues>(
  'KeyLimitValues',
  KeyDefinition.pick({
    rate: true,
    per: true,
    smoothing: true,
    throttleInterval: true,
    throttleRetryLimit: true,
    quotaMax: true,
    quotaRenewalRate: true,
    maxQueryDepth: true,
  }),
  'Limits that apply.',
);

const policyIDDescription = 'Identifier of the policy. Null for the key itself.';

const KeyLimitOrigin = builder
  .objectRef<{ readonly field: string; readonly policyID: string | undefined }>('KeyLimitOrigin')
  .implement({
    description: 'Where a limit comes from.',
    fields: (t) => ({
      field: t.exposeString('field', { description: 'Name of the limit, as in `KeyLimitValues`. Example: quotaMax.' }),
      policyID: t.string({
        nullable: true,
        description: policyIDDescription,
        resolve: ({ policyID }) => policyID,
      }),
    }),
  });

const KeyEffectiveLimits = builder.objectRef<EffectiveLimits>('KeyEffectiveLimits').implement({
  description:
    'Limits as they result from a key and its policies. The gateway enforces them, except for the quota of the key.',
  fields: (t) => ({
    values: t.field({
      type: KeyLimitValues,
      description: 'The limits.',
      resolve: ({ values }) => values,
    }),
    origins: t.field({
      type: [KeyLimitOrigin],
      description: 'Where each limit comes from.',
      resolve: ({ origins }) => Object.entries(origins).map(([field, { policyID }]) => ({ field, policyID })),
    }),
  }),
});

const KeyEffectiveUrl = builder.objectRef<EffectiveUrl>('KeyEffectiveUrl').implement({
  description: 'A path that a key may call, with the allowed methods.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The pattern. It matches from the start of the path.' }),
    methods: t.stringList({ description: 'The allowed methods.', resolve: ({ methods }) => [...methods] }),
    policyID: t.string({
      nullable: true,
      description: policyIDDescription,
      resolve: ({ origin }) => origin.policyID,
    }),
  }),
});

const KeyEffectiveRight = builder.objectRef<EffectiveRight>('KeyEffectiveRight').implement({
  description: 'The access of a key to one API, as it results from the key and its policies.',
  fields: (t) => ({
    apiID: t.exposeString('api', { description: 'Name of the API at the gateway: its `apiID`, or else its label.' }),
    apiName: t.string({
      nullable: true,
      description: 'Display name of the API. Null if there is none.',
      resolve: ({ apiName }) => apiName,
    }),
    versions: t.stringList({
      description: 'Names of the versions that the key may call.',
      resolve: ({ versions }) => [...versions],
    }),
    allowedUrls: t.field({
      type: [KeyEffectiveUrl],
      nullable: true,
      description: 'The allowed paths and methods. Null if all are allowed.',
      resolve: ({ allowedUrls }) => allowedUrls && [...allowedUrls],
    }),
    policyIDs: t.stringList({
      description: 'The policies that give access to the API. Empty if the key itself does.',
      resolve: ({ origins }) => origins.flatMap(({ policyID }) => policyID ?? []),
    }),
    limits: t.expose('limits', {
      type: KeyEffectiveLimits,
      description: 'The limits that apply to requests for the API.',
    }),
  }),
});

export const KeyEffectiveAccess = builder.objectRef<AccessSources>('KeyEffectiveAccess').implement({
  description: 'What a key may do with its policies, and where each value comes from.',
  fields: (t) => ({
    isInactive: t.boolean({
      description: 'Whether the key, or one of its policies, is switched off.',
      resolve: (sources) => inactiveOrigin(sources) !== undefined,
    }),
    policyIDs: t.stringList({
      description: 'The policies of the key that are known, in its order.',
      resolve: ({ policies }) => policies.map(({ policyID }) => policyID),
    }),
    unknownPolicyIDs: t.stringList({
      description:
        'Identifiers that the key names and no policy has, or only one that its organization may not use. Decisions deny a key that has any.',
      resolve: ({ unknownPolicies }) => [...unknownPolicies],
    }),
    limits: t.field({
      type: KeyEffectiveLimits,
      description: 'The limits of the key as a whole.',
      resolve: effectiveLimits,
    }),
    accessRights: t.field({
      type: [KeyEffectiveRight],
      description: 'The APIs that the key may call.',
      // For a policy with many APIs it takes milliseconds, for each of many keys.
      resolve: (sources, _, { nextSlice }) => {
        const slice = nextSlice();
        return slice ? slice.then(() => effectiveRights(sources)) : effectiveRights(sources);
      },
    }),
  }),
});

builder.objectField(OrgKey, 'effectiveAccess', (t) =>
  t.field({
    type: KeyEffectiveAccess,
    nullable: true,
    description:
      'What the key may do with its policies, as they are imported now. Null with an error if the policies cannot be read.',
    resolve: (key, _, { keys }) => keys.accessOf(key),
  }),
);

export const KeyAccessCode = builder.enumType('KeyAccessCode', {
  description: 'What a decision says: the first code that applies, in the order of docs/policies.md.',
  values: enumValuesOf<AccessCode>(accessCodes),
});

export const KeyProof = builder.enumType('KeyProof', {
  description: 'What a client can prove beside the identifier of its key. The gateway verifies it.',
  values: enumValuesOf<Proof>(proofs),
});

export const KeyAccessReason = builder.objectRef<AccessReason>('KeyAccessReason').implement({
  description: 'A reason to deny a request.',
  fields: (t) => ({
    code: t.field({ type: KeyAccessCode, description: 'The kind of the reason.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'The reason as an English sentence. Do not parse it.' }),
    path: t.string({
      nullable: true,
      description:
        'Path of the field of the key. Null if the reason is not about a field of the key. Example: expires.',
      resolve: ({ path }) => path && definitionPathText(path),
    }),
    policyID: t.string({
      nullable: true,
      description: 'The policy that the reason comes from. Null if it does not come from a policy.',
      resolve: ({ origin }) => origin?.policyID,
    }),
  }),
});

const KeyAccessExplanation = builder.objectRef<Explanation>('KeyAccessExplanation').implement({
  description: 'A decision about a request, with its reasons.',
  fields: (t) => ({
    at: t.field({
      type: 'KeyDateTime',
      description: 'The time of the decision.',
      resolve: ({ at }) => at.toISOString(),
    }),
    version: t.int({
      nullable: true,
      description: 'The version of the key. Null if there was none.',
      resolve: ({ version }) => version,
    }),
    isAllowed: t.boolean({
      description: 'Whether the request is allowed.',
      resolve: ({ decision }) => decision.isAllowed,
    }),
    code: t.field({
      type: KeyAccessCode,
      description: 'VALID, or the first reason to deny the request.',
      resolve: ({ decision }) => decision.code,
    }),
    reasons: t.field({
      type: [KeyAccessReason],
      description: 'All reasons to deny the request; empty if it is allowed.',
      resolve: ({ decision }) => [...decision.reasons],
    }),
    access: t.field({
      type: KeyEffectiveAccess,
      nullable: true,
      description: 'The effective access of the key. Null if there is no key.',
      resolve: ({ decision }) => decision.sources,
    }),
    right: t.field({
      type: KeyEffectiveRight,
      nullable: true,
      description: 'The access to the API of the request. Null if there is none, or the request names no API.',
      resolve: ({ decision }) => decision.right,
    }),
    matchedUrl: t.field({
      type: KeyEffectiveUrl,
      nullable: true,
      description: 'The rule that allows the method and the path. Null if all are allowed, or none does.',
      resolve: ({ decision }) => decision.rule,
    }),
    limits: t.field({
      type: KeyEffectiveLimits,
      description: 'The limits that apply to the request: those of its API, or of the key if it names none.',
      resolve: ({ decision }) => decision.limits,
    }),
    quota: t.field({
      type: KeyQuota,
      nullable: true,
      description:
        'The live quota with the effective maximum and period. Null if there is no key, and for a past time, whose quota is not known.',
      resolve: ({ decision }) => decision.quota,
    }),
  }),
});

builder.queryField('explainOrgKey', (t) =>
  t.field({
    type: KeyAccessExplanation,
    nullable: true,
    description:
      'Decides whether a request with a key is allowed, and says why. Changes nothing and consumes no quota. A key that does not exist, or that the credential cannot see, is NOT_FOUND in `code`. Requires a service credential. Null if an error is returned. Errors: INVALID if `at` is no date and time.',
    credential: 'service',
    args: {
      by: t.arg({ type: OrgKeyByInput, required: true, description: 'The identifier or the hash of the key.' }),
      api: t.arg.string({
        description:
          'Name of the API at the gateway. If it is omitted, access rights are not checked. Example: invoices.',
      }),
      version: t.arg.string({ description: 'Version of the API. If it is omitted, versions are not checked.' }),
      method: t.arg.string({ description: 'HTTP method, in any case. Example: GET.' }),
      path: t.arg.string({
        description: 'Path of the request as the client sends it; a query is ignored. Example: /invoices/7.',
      }),
      proofs: t.arg({ type: [KeyProof], description: 'What the client has proved beside the identifier.' }),
      at: t.arg({
        type: 'KeyDateTime',
        description:
          'The time of the decision. For a past time, the key and the policies are those of that time, and the quota is left out. Default: now.',
      }),
    },
    resolve: (caller, { by: { keyID, keyHash }, at, ...request }, { keys }) =>
      keys.explainOrgKey(caller, {
        ...withoutNulls(request),
        reference: keyID === undefined ? { keyHash } : { keyID },
        at: at === null || at === undefined ? undefined : timeOf(at),
      }),
  }),
);

function timeOf(text: string): Date {
  if (isDateTime(text)) return new Date(text);
  const issue = { path: ['at'], code: 'MALFORMED_DATE', message: dateTimeRule };
  throw new AppError('INVALID', 'The time is not valid.', { issues: [issue] });
}
