import {
  KeyCredentialsDocument,
  RotateKeyCredentialDocument,
  type Client,
  type CredentialFieldsFragment,
  type KeyCredentialsQueryVariables,
} from '../../client/client.js';
import { nodesOf, required } from '../results.js';
import type { Viewer } from '../session.js';
import { credentialsText } from './strings.js';

/** A credential of the list, without its secret. */
export type Credential = CredentialFieldsFragment;

/** A credential with its new secret. */
export interface Issued {
  readonly credential: Credential;
  /** Null if the answer that had it was lost. */
  readonly secret: string | null;
}

/** Reads a page of credentials, the oldest first. */
export async function readCredentials(client: Client, variables: KeyCredentialsQueryVariables, signal: AbortSignal) {
  const { data, errors } = await client.send(KeyCredentialsDocument, variables, { signal });
  const connection = required(data.keyCredentials, errors, credentialsText.notFound);
  return { credentials: nodesOf(connection), pageInfo: connection.pageInfo };
}

/** Replaces a credential by one with a new secret. */
export async function rotate(client: Client, id: string, overlapHours: number): Promise<Issued> {
  const { data, errors } = await client.send(RotateKeyCredentialDocument, { id, overlapHours });
  const { credential, secret } = required(data.rotateKeyCredential, errors, credentialsText.notFound);
  return { credential, secret };
}

/** Whether it is the credential that the viewer is signed in with. */
export function isOwn({ id }: Credential, viewer: Viewer | undefined): boolean {
  return id === viewer?.credentialID;
}

/** Whether the viewer may get its new secret: it gives no right that the viewer does not have. */
export function mayRotate({ kind, state, scopes }: Credential, viewer: Viewer | undefined): boolean {
  if (!viewer || state !== 'ACTIVE') return false;
  if (kind === 'MANAGEMENT') return true;
  return scopes === null ? !viewer.isRestricted : scopes.every((scope) => viewer.scopes.includes(scope));
}

/** Whether it is still accepted, so that it can be revoked. */
export function mayRevoke({ state }: Credential): boolean {
  return state === 'ACTIVE' || state === 'REPLACED';
}
