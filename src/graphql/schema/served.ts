import { GraphQLSchema } from 'graphql';
import { builder } from './index.js';
import { createSubgraph } from '../federation/subgraph.js';

/** The schema of the service: the API as a federation subgraph. */
export const servedSchema = createSubgraph(withDescription(builder.toSchema({ sortSchema: false })));

/** Adds the description of the service, which documentation explorers show first. Pothos has no option for it. */
export function withDescription(schema: GraphQLSchema): GraphQLSchema {
  return new GraphQLSchema({
    ...schema.toConfig(),
    description:
      'Keyfront manages the access keys of an API gateway: preview and safe updates of definitions, history, quotas and changes as they happen. A preview needs a management credential (`Authorization: Bearer kf_mgt_…`), every other operation a service credential (`X-Svc-Authorization: kf_svc_…`).',
  });
}
