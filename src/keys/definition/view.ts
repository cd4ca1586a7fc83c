import type { Definition, SecretName } from './normalize.js';
import type { StoredKey } from '../key.js';

/** A definition as it may be read: secrets show as set or not set. */
export type DefinitionView = Omit<Definition, 'basicAuthData' | 'jwtData'> & {
  readonly basicAuthData?: NonNullable<Definition['basicAuthData']> & { readonly passwordSet: boolean };
  readonly jwtData?: NonNullable<Definition['jwtData']> & { readonly secretSet: boolean };
  readonly hmacStringSet: boolean;
  readonly dateCreated?: string;
  readonly lastUpdated?: string;
};

/** Shows a definition beside the names of the secrets that are set. */
export function viewOf(definition: Definition, secretsSet: ReadonlySet<SecretName>): DefinitionView {
  const { basicAuthData, jwtData } = definition;
  const plain: Omit<Definition, 'basicAuthData' | 'jwtData'> = definition;
  const passwordSet = secretsSet.has('password');
  const secretSet = secretsSet.has('jwtSecret');
  return {
    ...plain,
    ...((basicAuthData || passwordSet) && { basicAuthData: { ...basicAuthData, passwordSet } }),
    ...((jwtData || secretSet) && { jwtData: { ...jwtData, secretSet } }),
    hmacStringSet: secretsSet.has('hmacString'),
  };
}

/** Shows a stored key's definition, with the fields that the service owns. */
export function viewOfStored({ definition, secrets, orgID, dateCreated, lastUpdated }: StoredKey): DefinitionView {
  const set = new Set<SecretName>();
  if (secrets.passwordHash !== undefined) set.add('password');
  if (secrets.jwtSecret !== undefined) set.add('jwtSecret');
  if (secrets.hmacString !== undefined) set.add('hmacString');
  return { ...viewOf(definition, set), orgID, dateCreated, lastUpdated: String(lastUpdated) };
}
