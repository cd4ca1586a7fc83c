import { demand, type CredentialKind, type Holder } from '../credential.js';
import type { Loaders } from './loaders.js';
import type { Caller } from '../keys/ports.js';
import type { KeyService } from '../keys/service.js';

/** What every request to the server carries, whatever face it is for. */
export interface ServerContext {
  readonly requestID: string;
}

/** What a resolver knows: the services, and who asks. */
export interface Context extends ServerContext {
  readonly keys: KeyService;
  readonly holder: Holder;
  readonly loaders: Loaders;
}

/** The caller behind the credential of the given kind. Throws UNAUTHENTICATED where the request holds none. */
export function callerOf({ holder, requestID }: Pick<Context, 'holder' | 'requestID'>, kind: CredentialKind): Caller {
  const { id, label, orgID } = demand(holder, kind);
  return { credentialID: id, label, orgID, requestID };
}
