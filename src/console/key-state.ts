import type { OrgKeyState } from '../client/client.js';
import { formatRelative, toDate, type Integer } from './format.js';
import { text } from './strings.js';

/** The figures of a quota. */
export interface Quota {
  readonly max: Integer | null;
  readonly used: Integer;
  readonly remaining: Integer | null;
  readonly renewsAt: string | null;
}

/** What decides whether a key can be used now. */
export interface KeyStatus {
  readonly state: OrgKeyState;
  readonly definition: { readonly expires: Integer | null } | null;
  readonly quota: Quota | null;
}

/** How a state is shown: fine, soon to be looked at, failing, or switched off. */
export type Tone = 'ok' | 'warn' | 'bad' | 'off';

/** Days before its expiry at which a key counts as expiring soon. */
export const expiringDays = 30;

/** Whether nothing remains of a limited quota. */
export function isExhausted(quota: Quota | null): boolean {
  return quota?.remaining != null && Number(quota.remaining) <= 0;
}

/** Whether a key expires within the next 30 days. */
export function isExpiring({ state, definition }: Omit<KeyStatus, 'quota'>, now = Date.now()): boolean {
  if (state !== 'ACTIVE' || definition?.expires == null || Number(definition.expires) < 1) return false;
  return toDate(definition.expires).getTime() - now < expiringDays * 86_400_000;
}

/** The state of a key in a few words. */
export function stateOf(key: KeyStatus, now = Date.now()): { readonly tone: Tone; readonly label: string } {
  const { state, definition, quota } = key;
  if (state === 'INACTIVE' || state === 'DELETED') return { tone: 'off', label: text.states[state] };
  if (state === 'EXPIRED') return { tone: 'bad', label: text.states.EXPIRED };
  if (isExhausted(quota)) return { tone: 'bad', label: 'Quota exhausted' };
  if (isExpiring(key, now)) return { tone: 'warn', label: `Expires ${formatRelative(definition?.expires ?? 0, now)}` };
  return { tone: 'ok', label: text.states.ACTIVE };
}
