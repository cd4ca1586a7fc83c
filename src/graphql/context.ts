import { demand, unauthenticated, type CredentialKind, type Holder } from '../credential.js';
import type { Need } from './builder.js';
import type { Loaders } from './loaders.js';
import type { Caller } from '../keys/ports.js';
import type { KeyService } from '../keys/service.js';

/** What every request to the server carries, whatever face it is for. */
export interface ServerContext {
  readonly requestID: string;
}

/** Who asks, and what that opens. */
export interface Asker {
  readonly holder: Holder;
  readonly mayIntrospect: boolean;
}

/** What a resolver knows: the services, and who asks. */
export interface Context extends ServerContext, Asker {
  readonly keys: KeyService;
  readonly loaders: Loaders;
}

/** Throws UNAUTHENTICATED where the request does not hold what a field needs. */
export function admit({ holder, mayIntrospect }: Asker, need: Need): void {
  if (need !== 'introspection') demand(holder, need);
  else if (!mayIntrospect) throw unauthenticated();
}

/** The caller behind the credential of the given kind. Throws UNAUTHENTICATED where the request holds none. */
export function callerOf({ holder, requestID }: Asker & ServerContext, kind: CredentialKind): Caller {
  const { id, label, orgID } = demand(holder, kind);
  return { credentialID: id, label, orgID, requestID };
}
