import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import {
  credentialKinds,
  credentialStates,
  stateOfCredential,
  type CredentialState,
  type StoredCredential,
} from '../../credentials/credential.js';
import { issueCredential, rotateCredential, type CredentialOptions } from '../../credentials/issue.js';
import { scopes } from '../../keys/key.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { hourMs } from '../../lib/overlap.js';
import type { Services } from '../../storage/open-storage.js';
import type { OptionValues } from '../command.js';
import type { IO } from '../io.js';
import { createConnection, serviceAddress, serviceCredential, type SendRequest } from './connection.js';
import { serviceURLFrom, withServices } from './open.js';
import { keysOf, nullable, pageOf, query, readPages } from './responses.js';

/** A credential as the commands show it. */
export type ShownCredential = Omit<StoredCredential, 'secretHash'> & { readonly state: CredentialState };

/** What a command issues, for a lifetime in milliseconds. */
export type IssueOptions = Omit<CredentialOptions, 'expires'> & { readonly lifetimeMs: number | undefined };

/** A credential with its secret. */
interface Issued {
  readonly credential: ShownCredential;
  readonly secret: string;
}

/** The operations of the commands for credentials, on the data folder or at a service. */
export interface CredentialClient {
  /** All that can be seen, in the order of their creation. */
  readonly list: () => Promise<readonly ShownCredential[]>;
  readonly issue: (options: IssueOptions) => Promise<Issued>;
  readonly rotate: (id: string, overlapMs: number) => Promise<Issued & { readonly retired: ShownCredential }>;
  /** False if there is none. */
  readonly revoke: (id: string) => Promise<boolean>;
}

/**
 * Runs a command for credentials, on the data folder or, with `--url`, at a service.
 *
 * @throws {AppError} when the request is rejected
 */
export async function runCredentialsCommand(
  {
    io,
    options,
    access,
  }: { readonly io: IO; readonly options: OptionValues; readonly access: 'create' | 'read' | 'write' },
  work: (credentials: CredentialClient) => Promise<number>,
): Promise<number> {
  const url = serviceURLFrom(io, options);
  if (url === undefined) return withServices(io, { access }, (services) => work(localCredentials(services)));
  return work(
    remoteCredentials(
      createConnection(io, serviceAddress(io, options, url, serviceCredential), 'keyfront credentials list'),
    ),
  );
}

function localCredentials({ credentials, now }: Services): CredentialClient {
  const shown = (credential: StoredCredential) => ({ ...credential, state: stateOfCredential(credential, now()) });
  return {
    list: async () => (await credentials.list()).map(shown),
    async issue({ lifetimeMs, ...options }) {
      const expires = expiryOf(lifetimeMs, now());
      const { credential, secret } = await issueCredential(credentials, { ...options, expires }, now());
      return { credential: shown(credential), secret };
    },
    async rotate(id, overlapMs) {
      const { credential, secret, retired } = await rotateCredential(credentials, id, overlapMs, now());
      return { credential: shown(credential), secret, retired: shown(retired) };
    },
    revoke: (id) => credentials.revoke(id, now()),
  };
}

const expiryOf = (lifetimeMs: number | undefined, now: Date) =>
  lifetimeMs === undefined ? undefined : new Date(now.getTime() + lifetimeMs);

const fields =
  'id kind label orgID scopes state lastFour createdAt expiresAt revokedAt lastUsedAt successorID' as const;

const documents = {
  list: `query Credentials($after: String) { keyCredentials(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { ${fields} } } } }`,
  issue: `mutation Issue($kind: KeyCredentialKind, $label: String!, $orgID: String, $scopes: [KeyScope!], $expiresAt: KeyDateTime, $idempotencyKey: String) {
    issued: issueKeyCredential(kind: $kind, label: $label, orgID: $orgID, scopes: $scopes, expiresAt: $expiresAt, idempotencyKey: $idempotencyKey) {
      credential { ${fields} } secret } }`,
  rotate: `mutation Rotate($id: ID!, $overlapHours: Int!) {
    rotated: rotateKeyCredential(id: $id, overlapHours: $overlapHours) { credential { ${fields} } secret retired { ${fields} } } }`,
  revoke: `mutation Revoke($id: ID!) { revokeKeyCredential(id: $id) { id } }`,
} as const;

const lowerCase = z.string().transform((name) => name.toLowerCase());
const text = nullable(z.string());
const time = nullable(z.iso.datetime().transform((value) => new Date(value)));
const CredentialResponse = z
  .object({
    id: z.string(),
    kind: lowerCase.pipe(z.enum(credentialKinds)),
    label: z.string(),
    orgID: text,
    scopes: nullable(z.array(lowerCase.pipe(z.enum(keysOf(scopes))))),
    state: lowerCase.pipe(z.enum(keysOf(credentialStates))),
    lastFour: text,
    createdAt: z.iso.datetime().transform((value) => new Date(value)),
    expiresAt: time,
    revokedAt: time,
    lastUsedAt: time,
    successorID: text,
  })
  .transform(({ createdAt, expiresAt, revokedAt, lastUsedAt, ...rest }): ShownCredential => {
    return { ...rest, created: createdAt, expires: expiresAt, revoked: revokedAt, lastUsed: lastUsedAt };
  });
const ListResponse = z.object({ keyCredentials: pageOf(CredentialResponse) });
const IssueResponse = z.object({ issued: z.object({ credential: CredentialResponse, secret: text }) });
const RotateResponse = z.object({
  rotated: z.object({ credential: CredentialResponse, secret: z.string(), retired: CredentialResponse }),
});

function remoteCredentials(send: SendRequest): CredentialClient {
  return {
    list: () => readPages(async (after) => (await query(send, documents.list, { after }, ListResponse)).keyCredentials),
    async issue({ kind, label, orgID, scopes: named, lifetimeMs }) {
      const variables = {
        kind: kind.toUpperCase(),
        label,
        orgID,
        scopes: named?.map((scope) => scope.toUpperCase()),
        expiresAt: expiryOf(lifetimeMs, new Date())?.toISOString(),
        // The connection repeats a request while the service is unavailable.
        idempotencyKey: randomUUID(),
      };
      const { credential, secret } = (await query(send, documents.issue, variables, IssueResponse)).issued;
      if (secret === undefined) {
        throw new Error(
          `${credential.id} was issued, and the response with its secret was lost. Run: keyfront credentials rotate ${credential.id} --overlap 0`,
        );
      }
      return { credential, secret };
    },
    rotate: async (id, overlapMs) =>
      (await query(send, documents.rotate, { id, overlapHours: overlapMs / hourMs }, RotateResponse)).rotated,
    async revoke(id) {
      try {
        await query(send, documents.revoke, { id }, z.unknown());
        return true;
      } catch (error) {
        if (error instanceof AppError && errorCodeOf(error) === 'NOT_FOUND') return false;
        throw error;
      }
    },
  };
}
