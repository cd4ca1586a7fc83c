import { effectiveLimits, inactiveOrigin, type AccessSources } from '../keys/access/effective-access.js';
import { effectiveRights } from '../keys/access/effective-view.js';
import type { EffectiveLimits } from '../keys/access/limits.js';
import { definitionToWire, wireName } from '../wire/field-names.js';

/** The member of a preview that shows what a key and its policies permit; none if the key names no policy, or none is known. */
export function effectiveMember(sources: AccessSources): { readonly effective?: object } {
  if (sources.policies.length + sources.unknownPolicies.length === 0 || !sources.arePoliciesKnown) return {};
  const origin = inactiveOrigin(sources);
  return {
    effective: {
      is_inactive: origin !== undefined,
      unknown_policies: sources.unknownPolicies,
      ...limitsToWire(effectiveLimits(sources)),
      access_rights: Object.fromEntries(
        effectiveRights(sources).map(({ api, versions, allowedUrls, limits, origins }) => [
          api,
          {
            versions,
            ...(allowedUrls && {
              allowed_urls: allowedUrls.map(({ url, methods, origin: { policyID } }) => ({
                url,
                methods,
                policy_id: policyID ?? null,
              })),
            }),
            policy_ids: origins.map(({ policyID }) => policyID ?? null),
            ...limitsToWire(limits),
          },
        ]),
      ),
    },
  };
}

function limitsToWire({ values, origins }: EffectiveLimits): object {
  return {
    limits: definitionToWire(values),
    origins: Object.fromEntries(
      Object.entries(origins).map(([field, { policyID }]) => [wireName(field), policyID ?? null]),
    ),
  };
}

const limits = {
  type: 'object',
  description: 'The limits that apply, by the names of the definition. A limit that is absent does not apply.',
};
const origins = {
  type: 'object',
  additionalProperties: { type: ['string', 'null'] },
  description: 'For each limit the policy that it comes from; null for the definition itself.',
};

/** The documentation of the member. */
export const effective = {
  type: 'object',
  description:
    'What the key may do with its policies. Only if the definition names policies, and policies have been imported.',
  properties: {
    is_inactive: {
      type: 'boolean',
      description: 'Whether the definition or one of its policies switches the key off.',
    },
    unknown_policies: {
      type: 'array',
      items: { type: 'string' },
      description: 'The identifiers that no policy has which the key may name.',
    },
    limits,
    origins,
    access_rights: {
      type: 'object',
      description: 'The APIs that the key may call, by the names that gateways have for them.',
      additionalProperties: {
        type: 'object',
        properties: {
          versions: { type: 'array', items: { type: 'string' } },
          allowed_urls: {
            type: 'array',
            description:
              'The allowed paths and methods, each with the policy that allows it. Absent if all are allowed.',
            items: {
              type: 'object',
              properties: {
                url: { type: 'string' },
                methods: { type: 'array', items: { type: 'string' } },
                policy_id: { type: ['string', 'null'] },
              },
            },
          },
          policy_ids: {
            type: 'array',
            items: { type: ['string', 'null'] },
            description: 'The policies that allow the API; null stands for the definition itself.',
          },
          limits,
          origins,
        },
      },
    },
  },
} as const;
