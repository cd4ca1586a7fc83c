import type { FormField } from './form-field.js';
import { formFields } from './generated/form-fields.js';

/** Labels of fields whose names say less than people do. All others are made of the name. */
const labels: Readonly<Record<string, string>> = {
  alias: 'Name',
  apiID: 'API',
  applyPolicyID: 'Policy identifier',
  apiName: 'Name of the API',
  applyPolicies: 'Policies',
  basicAuthData: 'Basic authentication',
  dataExpires: 'Keep analytics for',
  enableDetailedRecording: 'Record requests in detail',
  enableHttpSignatureValidation: 'Require HTTP signatures',
  hmacEnabled: 'Require HMAC signatures',
  hmacString: 'HMAC secret',
  isInactive: 'State',
  jwtData: 'JWT',
  accessRights: 'Access',
  allowedUrls: 'Allowed paths',
  url: 'Path',
  metaData: 'Metadata',
  oauthClientID: 'OAuth client',
  oauthKeys: 'OAuth keys',
  orgID: 'Organization',
  per: 'Rate period',
  quotaMax: 'Quota',
  quotaRenewalRate: 'Quota period',
  quotaRemaining: 'Quota remaining at first',
  quotaRenews: 'First renewal of the quota',
  rsaCertificateID: 'RSA certificate',
  mtlsStaticCertificateBindings: 'mTLS certificates',
};

/** The label of a field: "Max query depth" for `maxQueryDepth`. */
export function labelOf(name: string): string {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return labels[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** The names, indexes and labels in the path of an issue or of a change. */
export function segmentsOf(path: string): readonly string[] {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, name]) => quoted ?? (index === undefined ? (name ?? '') : String(Number(index) + 1)),
  );
}

/** The field of the definition at a path; undefined inside free-form JSON and for an unknown field. */
export function fieldAt(path: string): FormField | undefined {
  let fields: readonly FormField[] | undefined = formFields;
  let found: FormField | undefined;
  for (const segment of segmentsOf(path)) {
    // An index or a label of a list of objects.
    if (found?.isList === true && (fields ?? []).every(({ name }) => name !== segment)) continue;
    found = fields?.find(({ name }) => name === segment);
    fields = found?.fields;
    if (!found) return undefined;
  }
  return found;
}

/** The label of a path, such as "Access › invoices › Rate". */
export function labelOfPath(path: string): string {
  const known = new Set(namesIn(formFields));
  return segmentsOf(path)
    .map((segment, index) => (index === 0 || known.has(segment) ? labelOf(segment) : segment))
    .join(' › ');
}

/** An issue or a warning as a sentence, with labels in place of names. */
export function sentenceOf({ path, message }: { readonly path: string; readonly message: string }): string {
  const named = message.replaceAll(/`([A-Za-z]+)`/g, (_, name: string) => labelOf(name));
  return `${labelOfPath(path)} ${named}`.trim();
}

function namesIn(fields: readonly FormField[]): string[] {
  return fields.flatMap(({ name, fields: inner = [] }) => [name, ...namesIn(inner)]);
}

/** The first sentence of the description of a field in the schema, which explains it to people. */
export function hintOf({ description }: FormField): string {
  return description.replace(/ ?(At most|Example:) .*$/s, '').replaceAll('`', '');
}
