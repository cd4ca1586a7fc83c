import type { FormField } from '../form-field.js';
import { formFields } from '../generated/form-fields.js';
import { editText } from './strings.js';

/** A topic of the advanced fields. */
export type Topic = keyof typeof editText.topics;

/** The fields that have a control of their own. */
const basics = new Set([
  ...['alias', 'isInactive', 'expires', 'rate', 'per', 'quotaMax', 'quotaRenewalRate'],
  ...['applyPolicies', 'accessRights', 'tags'],
]);

const topics: Readonly<Record<Exclude<Topic, 'other'>, readonly string[]>> = {
  quota: ['quotaRemaining', 'quotaRenews'],
  throttling: ['throttleInterval', 'throttleRetryLimit', 'maxQueryDepth', 'smoothing'],
  signatures: [
    ...['hmacEnabled', 'hmacString', 'enableHttpSignatureValidation', 'rsaCertificateID'],
    ...['certificate', 'basicAuthData'],
  ],
  oauth: ['oauthClientID', 'oauthKeys', 'jwtData', 'sessionLifetime', 'idExtractorDeadline'],
  recording: ['enableDetailedRecording', 'dataExpires', 'monitor'],
  metadata: ['metaData'],
};

/** The advanced fields of each topic. A field that no topic names is in the last one. */
export function advancedFields(): readonly (readonly [Topic, readonly FormField[]])[] {
  const editable = formFields.filter(({ name, isEditable }) => isEditable && !basics.has(name));
  const named = new Set(Object.values(topics).flat());
  return (Object.keys(editText.topics) as Topic[]).map((topic) => [
    topic,
    editable.filter(({ name }) => (topic === 'other' ? !named.has(name) : topics[topic].includes(name))),
  ]);
}
