/** A request header that carries credentials of one kind. */
export interface CredentialHeader {
  readonly kind: 'management' | 'service';
  readonly name: string;
  /** The start of every value; the editor contains it, so that the credential only has to be pasted after it. */
  readonly prefix: string;
}

/** The headers of both kinds of credential. */
export const credentialHeaders: readonly CredentialHeader[] = [
  { kind: 'management', name: 'Authorization', prefix: 'Bearer kf_mgt_' },
  { kind: 'service', name: 'X-Svc-Authorization', prefix: 'kf_svc_' },
];

/** JSON for the Headers editor, each header with its prefix. */
export function headersTemplate(headers: readonly CredentialHeader[]): string {
  return JSON.stringify(Object.fromEntries(headers.map(({ name, prefix }) => [name, prefix])), null, 2);
}
