import type { CredentialHeader } from './credential-headers.js';

/** A credential header and the value that was sent in it; '' if none was. */
export interface SentHeader extends CredentialHeader {
  readonly value: string;
}

/**
 * Explains an UNAUTHENTICATED response and what to do, from the data of the page: the response does not state why a
 * credential is rejected. `needed` is a kind, or `any` for the schema.
 */
export function explainRejection(needed: CredentialHeader['kind'] | 'any', sent: readonly SentHeader[]): string {
  const secretPrefixOf = ({ prefix }: CredentialHeader) => prefix.split(' ').at(-1) ?? '';
  const header = sent.find(({ kind }) => kind === needed);
  if (header === undefined) {
    return sent.every(({ value }) => value === '')
      ? 'The documentation and completion require a credential. Paste yours under Headers, below the operation, and press the play button: both appear then.'
      : 'The documentation and completion require a valid credential, but the ones under Headers are not valid. Both appear after an operation has succeeded.';
  }
  const { kind, name, prefix, value } = header;
  const source = `The first “npm start” printed one; “npx keyfront credentials issue --kind ${kind} --label me” issues another.`;
  if (value === '') {
    return `This operation needs a ${kind} credential. Paste yours under Headers, below the operation: "${name}": "${prefix}…". ${source}`;
  }
  const other = sent.find((candidate) => candidate.kind !== kind && value.includes(secretPrefixOf(candidate)));
  if (other !== undefined) {
    return `The value of ${name} begins like a ${other.kind} credential. This header needs a ${kind} credential, which begins with ${secretPrefixOf(header)}. ${source}`;
  }
  if (prefix.includes(' ') && !/^bearer \S/i.test(value)) {
    return `${name} must contain the word Bearer, a space, and then the credential: "${name}": "${prefix}…".`;
  }
  if (!prefix.includes(' ') && /^bearer /i.test(value)) {
    return `${name} must contain the credential alone, without the word Bearer: "${name}": "${prefix}…".`;
  }
  return `The credential in ${name} is not valid. Check that it is complete and was issued by this service; “npx keyfront credentials list” lists the valid ones. ${source}`;
}

/** Explains why an example finds no key, if the request is of an example. */
export function explainMissingSample(request: string): string {
  return /"(?:acme-billing|acme-mobile)"/.test(request)
    ? 'The examples use the sample keys, and this service does not have the one of this example. “npm start -- --sample” imports them.'
    : '';
}
