import { formatDay, formatInteger, formatRelative, formatTime, toDate, usedShare } from '../format.js';
import { isExhausted, isExpiring, type Tone } from '../key-state.js';
import { limitsOf } from './effective.js';
import { entriesOf, whoOf } from './history-entries.js';
import type { KeyDetails } from './read-key.js';

/** What a person can do about a state. */
export type StateAction = 'restore' | 'activate' | 'policies' | 'expiry' | 'limit' | 'reset' | 'access';

/** Why a key is, or will be, accepted or rejected. */
export interface StateReason {
  readonly tone: Tone;
  readonly title: string;
  readonly sentence: string;
  readonly actions: readonly StateAction[];
}

/** The most important reason why a key is, or soon will be, rejected; undefined if nothing speaks against it. */
export function explainState(found: KeyDetails, now = Date.now()): StateReason | undefined {
  return reasons.map((reasonOf) => reasonOf(found, now)).find((reason) => reason !== undefined);
}

type Reason = (found: KeyDetails, now: number) => StateReason | undefined;

const reasons: readonly Reason[] = [
  ({ state, deletedAt, ...found }) => {
    if (state !== 'DELETED') return undefined;
    const entry = lastEntry({ ...found, state, deletedAt }, ({ operation }) => operation === 'DELETE');
    const by = entry ? ` by ${whoOf(entry.actor)}` : '';
    const when = deletedAt === null ? '' : ` ${formatRelative(deletedAt)}`;
    return {
      tone: 'bad',
      title: 'This key is deleted.',
      sentence: `It was deleted${when}${by}${because(entry?.reason)}, and gateways reject it. It can be restored until the service purges it.`,
      actions: ['restore'],
    };
  },
  (found) => {
    if (found.state !== 'INACTIVE') return undefined;
    const entry = lastEntry(found, ({ changes }) => changes.some(({ path }) => path === 'isInactive'));
    const by = entry
      ? ` ${whoOf(entry.actor)} switched it off ${formatRelative(entry.at)}${because(entry.reason)}.`
      : '';
    const hasPolicies = (found.definition?.applyPolicies ?? []).length > 0;
    const warning = hasPolicies ? ' Some gateways ignore this for a key with policies: check yours.' : '';
    return {
      tone: 'bad',
      title: 'Gateways reject this key: it is switched off.',
      sentence: `${by}${warning}`.trim(),
      actions: ['activate'],
    };
  },
  ({ effectiveAccess, definition }) =>
    effectiveAccess?.isInactive === true && definition?.isInactive !== true
      ? {
          tone: 'bad',
          title: 'A policy of this key is switched off.',
          sentence: 'Access decisions of Keyfront deny the key as long as it names that policy.',
          actions: ['policies'],
        }
      : undefined,
  ({ state, definition }) =>
    state === 'EXPIRED'
      ? {
          tone: 'bad',
          title: 'Gateways reject this key: it has expired.',
          sentence: `It expired ${formatRelative(definition?.expires ?? 0)}, on ${formatTime(definition?.expires)}.`,
          actions: ['expiry'],
        }
      : undefined,
  ({ effectiveAccess }) => {
    const unknown = effectiveAccess?.unknownPolicyIDs ?? [];
    if (unknown.length === 0) return undefined;
    return {
      tone: 'warn',
      title: `Not imported: the ${unknown.length === 1 ? 'policy' : 'policies'} ${unknown.join(', ')}.`,
      sentence:
        'Access decisions of Keyfront deny the key until then. A gateway with policies of its own decides itself.',
      actions: ['policies'],
    };
  },
  (found) => {
    const { quota } = found;
    if (!quota || !isExhausted(quota)) return undefined;
    const renews =
      quota.renewsAt === null
        ? 'The quota does not renew by itself.'
        : `The quota renews ${formatRelative(quota.renewsAt)}, on ${formatTime(quota.renewsAt)}.`;
    return {
      tone: 'bad',
      title: 'Gateways reject this key: its quota is used up.',
      sentence: `${formatInteger(quota.used)} of ${formatInteger(quota.max ?? 0)} requests are counted. ${renews}${governedBy(found)}`,
      actions: [limitAction(found), 'reset'],
    };
  },
  ({ definition }) => {
    if (!definition || definition.accessRights?.length || definition.applyPolicies?.length) return undefined;
    return {
      tone: 'warn',
      title: 'This key has neither access rights nor policies.',
      sentence: 'Depending on its settings, a gateway rejects it, or allows it everything.',
      actions: ['access'],
    };
  },
  (found, now) =>
    isExpiring(found, now)
      ? {
          tone: 'warn',
          title: `This key expires ${formatRelative(found.definition?.expires ?? 0, now)}.`,
          sentence: `Gateways reject it from ${formatTime(found.definition?.expires)} on.`,
          actions: ['expiry'],
        }
      : undefined,
  (found, now) => {
    const { quota } = found;
    const share = quota ? usedShare(quota) : undefined;
    if (!quota || share === undefined || share < 0.8) return undefined;
    const period = periodOf(quota.renewsAt, limitsOf(found).values.quotaRenewalRate, now);
    const end = period && exhaustionAt(period, share, now);
    const pace =
      end !== undefined && period !== undefined && end < period.end
        ? `At the pace of this period it is used up ${formatRelative(end / 1000, now)}, before it renews on ${formatDay(period.end / 1000)}.`
        : 'At the pace of this period it lasts until it renews.';
    return {
      tone: 'warn',
      title: `${Math.floor(share * 100)} % of the quota is used.`,
      sentence: `${period ? pace : 'The quota does not renew by itself.'}${governedBy(found)}`,
      actions: [limitAction(found)],
    };
  },
];

/** A sentence about the policy that a quota comes from: the limit of the key itself has no effect then. */
function governedBy(found: KeyDetails): string {
  const policyID = limitsOf(found).policyOf('quotaMax');
  return policyID === undefined ? '' : ` The policy ${policyID} states it.`;
}

/** What raises the quota: its value, or other policies. */
function limitAction(found: KeyDetails): StateAction {
  return limitsOf(found).policyOf('quotaMax') === undefined ? 'limit' : 'policies';
}

/** A sentence for a key that nothing speaks against. */
export function explainActive({ definition, quota }: KeyDetails): string {
  const expires = definition?.expires;
  const until = expires == null || Number(expires) < 1 ? 'It never expires' : `It expires on ${formatDay(expires)}`;
  const left = quota?.remaining == null ? '' : ` and has ${formatInteger(quota.remaining)} requests left`;
  return `Gateways may accept this key. ${until}${left}.`;
}

/** The beginning and the end of a quota period, in milliseconds. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** The present period of a quota that renews; undefined if its beginning is not known. */
export function periodOf(
  renewsAt: string | null,
  renewalRate: number | string | null | undefined,
  now = Date.now(),
): Period | undefined {
  const length = Number(renewalRate ?? 0) * 1000;
  if (renewsAt === null || length <= 0) return undefined;
  const end = toDate(renewsAt).getTime();
  const start = end - length;
  return start < now && now <= end ? { start, end } : undefined;
}

/** When a quota is used up at the pace of its period so far, in milliseconds. */
export function exhaustionAt({ start }: Period, share: number, now: number): number | undefined {
  return share > 0 ? start + (now - start) / share : undefined;
}

function lastEntry(found: KeyDetails, matches: (entry: ReturnType<typeof entriesOf>[number]) => boolean) {
  return entriesOf(found.history).find(matches);
}

function because(reason: string | null | undefined): string {
  return reason == null ? '' : ` (“${reason}”)`;
}
