import * as z from 'zod';
import { actorNameProblem } from '../keys/actor.js';
import { scopes, type Scope } from '../keys/key.js';
import { orgIDProblem } from '../keys/key-id.js';
import { roles, type Role } from '../keys/role.js';

const claimProblem =
  'must be the name of a claim, or a list of at most 5 names, from the outermost object to the innermost';
const member = z.string(claimProblem).min(1, claimProblem).max(200, claimProblem);

/** The name of a claim; a list for a member of an object, such as `["realm_access", "roles"]`. */
const claimName = z.union([member, z.array(member).min(1, claimProblem).max(5, claimProblem)], claimProblem);

const rule = z
  .strictObject({
    claim: claimName.optional(),
    value: z.string('must be a text').min(1, 'must not be empty').max(200).optional(),
    role: z.enum(Object.keys(roles) as [Role, ...Role[]], `must be one of ${Object.keys(roles).join(', ')}`).optional(),
    scopes: z
      .array(z.enum(Object.keys(scopes) as [Scope, ...Scope[]], `must be one of ${Object.keys(scopes).join(', ')}`))
      .optional(),
    org: z
      .string('must be the ID of an organization')
      .refine((org) => orgIDProblem(org) === undefined, 'must be the ID of an organization')
      .optional(),
    orgClaim: claimName.optional(),
  })
  .refine((one) => (one.claim === undefined) === (one.value === undefined), 'needs both claim and value, or neither')
  .refine((one) => (one.role === undefined) !== (one.scopes === undefined), 'needs either role or scopes')
  .refine((one) => one.org === undefined || one.orgClaim === undefined, 'must not have both org and orgClaim');

/** How the claims of a token become rights. The text of the setting is JSON in this form. */
export const claimMapping = z.strictObject({
  name: claimName.optional(),
  rules: z.array(rule, 'must be a list of rules').min(1, 'must have a rule').max(500, 'must have at most 500 rules'),
});

/** The rules by which the claims of a token become rights. */
export type ClaimMapping = z.output<typeof claimMapping>;

/** Without a mapping, every genuine token may preview, and nothing else. */
export const previewsOnly: ClaimMapping = { rules: [{ scopes: [] }] };

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a token permits. */
export interface TokenRights {
  readonly orgID: string | undefined;
  /** Empty for previews only. */
  readonly scopes: readonly Scope[];
}

/**
 * Returns the rights of a token by the first rule that its claims match. Returns the reason for a rejection if none does, or
 * if the rule requires a claim with the organization and there is no valid one.
 */
export function rightsOf(claims: Claims, { rules }: ClaimMapping): TokenRights | 'claims' | 'organization' {
  const found = rules.find(({ claim, value }) => claim === undefined || valuesOf(claims, claim).includes(value ?? ''));
  if (found === undefined) return 'claims';
  const { role, scopes: named = [], org, orgClaim } = found;
  const granted = role === undefined ? named : roles[role];
  if (orgClaim === undefined) return { orgID: org, scopes: granted };
  const orgID = claimOf(claims, orgClaim);
  if (typeof orgID !== 'string' || orgIDProblem(orgID) !== undefined) return 'organization';
  return { orgID, scopes: granted };
}

/** Returns the name of the person for the history: of the mapped claim, else `name` or `preferred_username`, else the subject. */
export function displayNameOf(claims: Claims, subject: string, { name }: ClaimMapping): string {
  const candidates = name === undefined ? ['name', 'preferred_username'] : [name];
  const found = candidates.map((candidate) => claimOf(claims, candidate)).find(isName);
  return found ?? subject;
}

/** Returns the application that got the token, by the names of the claim that issuers use; undefined if it names none. */
export function clientOf(claims: Claims): string | undefined {
  return ['azp', 'client_id', 'cid', 'appid'].map((name) => claimOf(claims, name)).find(isName);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && actorNameProblem(value) === undefined;
}

/** The values of a claim: a text, or a list of them. The scopes of OAuth are words of one text. */
function valuesOf(claims: Claims, name: z.output<typeof claimName>): readonly unknown[] {
  const value = claimOf(claims, name);
  if (Array.isArray(value)) return value;
  if (typeof value === 'string' && (name === 'scope' || name === 'scp')) return value.split(' ');
  return [value];
}

function claimOf(claims: Claims, name: z.output<typeof claimName>): unknown {
  const path = typeof name === 'string' ? [name] : name;
  return path.reduce<unknown>(
    (value, member) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, member)
        ? (value as Claims)[member]
        : undefined,
    claims,
  );
}
