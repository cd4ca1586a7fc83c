import { AppError } from '../lib/errors.js';
import { policyDifferences, type PolicyDifference } from './access/policy-diff.js';
import type { PolicyChange, PolicySet } from './access/policy-store.js';
import type { Policy } from './access/policy.js';
import { actorOf } from './actor.js';
import { requireAllOrganizations, requireScope } from './authorization.js';
import { withAudit } from './change.js';
import { runIdempotent } from './idempotency.js';
import type { CallContext, Ports } from './ports.js';

/** Options of each change of policies. */
interface PolicyChangeOptions {
  /** Whether to store nothing. */
  readonly isDryRun: boolean;
  /** Reject the change if the set of policies has another version. */
  readonly expectedVersion?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Adds policies, and replaces those with the same identifiers. */
export interface PutPoliciesRequest extends PolicyChangeOptions {
  readonly policies: readonly Policy[];
  /** Whether to remove all other policies. */
  readonly prune: boolean;
}

/** Removes policies. */
export interface RemovePoliciesRequest extends PolicyChangeOptions {
  readonly policyIDs: readonly string[];
}

/** The result of a change of policies, or of its dry run. */
export interface PolicyChangeResult {
  readonly isDryRun: boolean;
  /** The version of the set of policies afterwards. */
  readonly version: number;
  /** The policies that change. */
  readonly differences: readonly PolicyDifference[];
}

/** The differences that a request makes, of the known policies. */
type Plan = (known: PolicySet['policies']) => readonly PolicyDifference[] | Promise<readonly PolicyDifference[]>;

/**
 * The changes of policies: all of a request, or none, in one transaction. A change throws FORBIDDEN if the caller lacks the
 * scope `admin`, and a dry run if it lacks `read`; both if the caller is bound to an organization, because policies are for
 * all of them. CONFLICT when the set has another version than expected, would have too many policies, or too large ones.
 */
export function createPolicyCommands(ports: Ports) {
  const { policies: store, now, nextSlice } = ports;

  async function run(
    operation: string,
    caller: CallContext,
    { isDryRun, expectedVersion, idempotencyKey }: PolicyChangeOptions,
    body: object,
    plan: Plan,
  ): Promise<PolicyChangeResult> {
    requireScope(caller, isDryRun ? 'read' : 'admin');
    requireAllOrganizations(caller);
    caller.deadline?.throwIfExpired();
    if (isDryRun) {
      const known = await store.currentSet();
      requireVersion(known, expectedVersion);
      const differences = await plan(known.policies);
      return { isDryRun, version: known.version + (differences.length > 0 ? 1 : 0), differences };
    }
    const request = { operation, idempotencyKey, body: { ...body, expectedVersion } };
    return runIdempotent<PolicyChangeResult>(ports, caller, request, (receiptOf) =>
      store.change(
        async (known) => {
          requireVersion(known, expectedVersion);
          const differences = await plan(known.policies);
          const changes = differences.map(({ policyID, after }): PolicyChange => ({ policyID, policy: after }));
          const resultAt = (version: number) => {
            // Called just before the transaction.
            caller.deadline?.markCommitting();
            return { isDryRun, version, differences };
          };
          return { changes, resultAt, receiptOf };
        },
        actorOf(caller),
        now(),
      ),
    );
  }

  const audited = <Request extends PolicyChangeOptions>(
    operation: string,
    command: (caller: CallContext, request: Request) => Promise<PolicyChangeResult>,
  ) => {
    const withLog = withAudit(ports.audit, {
      operation,
      identify: (_: Request) => undefined,
      run: (caller, _, request) => command(caller, request),
      acceptedOf: ({ version, differences }) => ({ version, isChanged: differences.length > 0 }),
    });
    return (caller: CallContext, request: Request) => (request.isDryRun ? command : withLog)(caller, request);
  };

  return {
    /** Adds and replaces policies. @throws {AppError} as above. */
    putPolicies: audited('putKeyPolicies', (caller, request: PutPoliciesRequest) => {
      const { policies, prune } = request;
      return run('putKeyPolicies', caller, request, { policies, prune }, (known) =>
        policyDifferences(known, policies, { prune, nextSlice }),
      );
    }),
    /** Removes policies. @throws {AppError} NOT_FOUND when one of them does not exist; otherwise as above. */
    removePolicies: audited('removeKeyPolicies', (caller, request: RemovePoliciesRequest) => {
      const { policyIDs } = request;
      return run('removeKeyPolicies', caller, request, { policyIDs }, (known) => {
        for (const policyID of policyIDs) if (!known.has(policyID)) throw noSuchPolicy(policyID);
        return [...new Set(policyIDs)].map((policyID) => ({
          policyID,
          kind: 'REMOVED',
          after: undefined,
          changes: [],
        }));
      });
    }),
  };
}

function requireVersion({ version }: PolicySet, expected: number | undefined): void {
  if (expected === undefined || expected === version) return;
  throw new AppError('CONFLICT', `The policies have version ${version}; the expected version is ${expected}.`);
}

function noSuchPolicy(policyID: string): AppError {
  const text = JSON.stringify(policyID.length > 100 ? `${policyID.slice(0, 100)}…` : policyID);
  return new AppError('NOT_FOUND', `There is no policy ${text}. Nothing was changed.`);
}
