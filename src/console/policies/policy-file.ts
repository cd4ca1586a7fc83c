import type { KeyPolicyInput } from '../../client/client.js';
import { freeFormFields } from '../../client/generated/definition-fields.js';
import type { FormValues } from '../edit/form-values.js';
import { graphQLNames, labeledLists } from '../generated/rest-names.js';
import type { PolicyDetails } from './read-policies.js';

type JSONMembers = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is JSONMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values of a policy that a form edits, without those that are absent. */
export function valuesOf({ policyID, name, orgID, isInactive, governs, values }: PolicyDetails): FormValues {
  const known = { policyID, name, orgID, isInactive: isInactive || null, governs, ...values };
  return withoutNulls(known) as FormValues;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMembers(value)) return value;
  const present = Object.entries(value).filter(([name, member]) => member !== null && name !== '__typename');
  return Object.fromEntries(present.map(([name, member]) => [name, withoutNulls(member)]));
}

/** The edited values as the input of `impactOfPolicy`. What is wrong with them, the service says. */
export function toPolicyInput(values: FormValues): KeyPolicyInput {
  return values as KeyPolicyInput;
}

const restNames = new Map([...graphQLNames].map(([rest, name]) => [name, rest]));

/** The names of fields that only policies have. */
const ofPolicies: ReadonlyMap<string, string> = new Map([['policyID', 'policy_id']]);

/** A policy as a line of the file that `keyfront policies import` reads. */
export function toFileLine(values: FormValues): string {
  const { governs, ...others } = values;
  const parts = Array.isArray(governs) && { governs: governs.map((part) => String(part).toLowerCase()) };
  return JSON.stringify({ ...(withRestNames(others) as JSONMembers), ...parts });
}

function withRestNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withRestNames);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const renamed = ofPolicies.get(name) ?? restNames.get(name) ?? name;
      if (freeFormFields.has(name)) return [renamed, member];
      return [renamed, labeledLists.has(name) ? byLabel(member) : withRestNames(member)];
    }),
  );
}

/** REST has an object with a member for each label, where GraphQL has a list. */
function byLabel(entries: unknown): unknown {
  if (!Array.isArray(entries)) return entries;
  return Object.fromEntries(
    entries.filter(isMembers).map(({ label, ...entry }) => [String(label), withRestNames(entry)]),
  );
}
