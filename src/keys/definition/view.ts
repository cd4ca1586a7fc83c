import type { Definition, SecretName } from './normalize.js';
import type { StoredKey } from '../key.js';

/** A definition as reads return it: a flag instead of each secret. */
export type DefinitionView = Omit<Definition, 'basicAuthData' | 'jwtData'> & {
  readonly basicAuthData?: NonNullable<Definition['basicAuthData']> & { readonly passwordSet: boolean };
  readonly jwtData?: NonNullable<Definition['jwtData']> & { readonly secretSet: boolean };
  readonly hmacStringSet: boolean;
  readonly dateCreated?: string;
  readonly lastUpdated?: string;
};

/** Returns the view of a definition. */
export function viewOf(definition: Definition, secretsSet: ReadonlySet<SecretName>): DefinitionView {
  const { basicAuthData, jwtData } = definition;
  const visible: Omit<Definition, 'basicAuthData' | 'jwtData'> = definition;
  const passwordSet = secretsSet.has('password');
  const secretSet = secretsSet.has('jwtSecret');
  return {
    ...visible,
    ...((basicAuthData || passwordSet) && { basicAuthData: { ...basicAuthData, passwordSet } }),
    ...((jwtData || secretSet) && { jwtData: { ...jwtData, secretSet } }),
    hmacStringSet: secretsSet.has('hmacString'),
  };
}

/** Returns the view of a stored key, including the fields that the service sets. */
export function viewOfStored({ definition, secrets, orgID, dateCreated, lastUpdated }: StoredKey): DefinitionView {
  const set = new Set<SecretName>();
  if (secrets.passwordHash !== undefined) set.add('password');
  if (secrets.jwtSecret !== undefined) set.add('jwtSecret');
  if (secrets.hmacString !== undefined) set.add('hmacString');
  return { ...viewOf(definition, set), orgID, dateCreated, lastUpdated: String(lastUpdated) };
}
