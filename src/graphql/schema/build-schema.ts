import { GraphQLSchema } from 'graphql';
import { builder } from './builder.js';
import { withExactIDs } from './scalars.js';
// The nouns with root fields, in the order of these fields in the served schema.
import './preview.js';
import './key.js';
import './change.js';
import './bulk.js';
import './consume.js';
import './verify.js';
import './lifecycle.js';
import './rotation.js';
import './deliver.js';
import './usage.js';
import './key-list.js';
import './access.js';
import './policy.js';
import './policy-history.js';
import './policy-impact.js';
import './policy-change.js';
import './propose.js';
import './proposal.js';
import './credential.js';
import './webhook.js';
import './change-feed.js';
import './gateways.js';

/** Builds the schema of the API, sorted by name unless `sortSchema` is false. */
export function buildAPISchema(options?: { readonly sortSchema: boolean }): GraphQLSchema {
  const { types, ...config } = builder.toSchema(options).toConfig();
  return new GraphQLSchema({
    ...config,
    types: withExactIDs(types),
    // Documentation explorers show it first. Pothos has no option for it.
    description:
      'Keyfront manages the access keys of an API gateway: preview and safe updates of definitions, history, quotas and changes as they happen. A preview needs a management credential (`Authorization: Bearer kf_mgt_…`), every other operation a service credential (`X-Svc-Authorization: kf_svc_…`).',
  });
}
