import { createHash } from 'node:crypto';
import { policyFromJSON } from '../../keys/access/policy-definition.js';
import type { PolicyVersion } from '../../keys/access/policy-store.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { actorFromText, actorToText } from './actor-text.js';
import { defineTable, type Columns, type RowOf } from './signed.js';

const columns = {
  id: 'integer',
  policy_id: 'text',
  version: 'integer',
  at: 'integer',
  credential_id: 'text',
  credential_label: 'text',
  /** Whom the credential states to act for. */
  actor_name: 'text?',
  /** JSON; NULL if the policy was removed. */
  definition: 'text?',
} as const satisfies Columns;

/** One version of a policy. Rows are added and never changed. */
export type PolicyRow = RowOf<typeof columns>;

/** The table of policies and their history. */
export const policyTable = defineTable<PolicyRow>('policies', columns);

/** Returns the version of a row that passed its integrity check. */
export function policyFromRow(row: PolicyRow): PolicyVersion {
  return {
    policyID: row.policy_id,
    version: Number(row.version),
    at: new Date(Number(row.at)),
    actor: {
      credentialID: row.credential_id,
      ...actorFromText(row.credential_label),
      ...(row.actor_name !== null && { assertedName: row.actor_name }),
    },
    policy: row.definition === null ? undefined : policyFromJSON(parseJSON(row.definition)),
  };
}

/** Returns the row of a version. */
export function policyToRow(id: bigint, { policyID, version, at, actor, policy }: PolicyVersion): PolicyRow {
  return {
    id,
    policy_id: policyID,
    version: BigInt(version),
    at: BigInt(at.getTime()),
    credential_id: actor.credentialID,
    credential_label: actorToText({ label: actor.label, client: actor.client }),
    actor_name: actor.assertedName ?? null,
    definition: policy ? stringifyJSON(policy) : null,
  };
}

/** 128 bits of SHA-256 of a definition. */
export function policyDigest({ definition }: Pick<PolicyRow, 'definition'>): string {
  const hash = createHash('sha256').update(definition ?? '');
  return hash.digest().subarray(0, 16).toString('base64url');
}

/** Identifies a version for the head: its number and its digest. */
export function stampOf({ version, digest }: { readonly version: bigint; readonly digest: string }): string {
  return `${version} ${digest}`;
}

/** The stamp of a row. */
export function policyStamp(row: Pick<PolicyRow, 'version' | 'definition'>): string {
  return stampOf({ version: row.version, digest: policyDigest(row) });
}
