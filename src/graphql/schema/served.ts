import { createSubgraph } from '../federation/subgraph.js';
import { buildAPISchema } from './build-schema.js';

/** The schema of the service: the API as a federation subgraph. */
export const servedSchema = createSubgraph(buildAPISchema({ sortSchema: false }));
