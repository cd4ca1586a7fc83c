import type { ExecutionResult } from 'graphql';
import type { AuthContext } from '../../credentials/credential.js';
import { servedSchema } from '../schema/served.js';
import { calculateComplexity } from './complexity.js';
import { isRouter, limitsOf, type OperationLimits } from './limits.js';
import type { PreparedOperation } from './operation-cache.js';
import type { RequestedOperation } from './params.js';

/** The cost of an operation, in `extensions.cost` of its response. */
interface OperationCost {
  readonly requested: number;
  readonly maximum: number;
  /** The maximum minus the requested cost. */
  readonly remaining: number;
}

/** Adds the cost of an operation to its result if the request has `"extensions": {"cost": true}`. */
export function addCost(
  result: ExecutionResult,
  limits: OperationLimits,
  { document, operation }: PreparedOperation,
  { extensions, variables }: RequestedOperation,
  auth: AuthContext,
): ExecutionResult {
  if (extensions?.['cost'] !== true) return result;
  const { cost: requested } = calculateComplexity(servedSchema, document, operation, variables);
  const { cost: maximum } = limitsOf(limits, isRouter(auth));
  const cost: OperationCost = { requested, maximum, remaining: maximum - requested };
  return { ...result, extensions: { ...result.extensions, cost } };
}
