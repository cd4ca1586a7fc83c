import { fileURLToPath } from 'node:url';
import { installFolder } from '../support/install.mjs';

/** Installs the packages that Keyfront is compared with. They have graphql 16, and so has our schema in them. */
export function installPeers() {
  installFolder(fileURLToPath(new URL('peers', import.meta.url)));
}
