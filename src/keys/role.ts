import type { Scope } from './key.js';

/** Names of sets of scopes, for people. What is stored and sent is the set, so that a later version changes nobody's rights. */
export const roles = {
  viewer: ['read'],
  editor: ['read', 'create', 'update', 'delete', 'propose'],
  approver: ['read', 'propose', 'approve'],
  /** All but the scopes that a credential has only if they are named. */
  administrator: ['read', 'create', 'update', 'delete', 'consume', 'verify', 'admin', 'propose', 'approve', 'actor'],
} as const satisfies Record<string, readonly Scope[]>;

/** One of {@link roles}. */
export type Role = keyof typeof roles;

/** Whether a text is the name of a role. */
export function isRole(text: string): text is Role {
  return Object.hasOwn(roles, text);
}
