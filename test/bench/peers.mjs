import { fileURLToPath } from 'node:url';
import { installFolder } from '../support/install.mjs';

/** Installs the packages that Keyfront is compared with. They share our copy of graphql, and so our schema. */
export function installPeers() {
  installFolder(fileURLToPath(new URL('peers', import.meta.url)));
}
