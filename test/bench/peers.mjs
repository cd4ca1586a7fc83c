import { fileURLToPath } from 'node:url';
import { installFolder } from '../support/install.mjs';

/** Installs the packages of the compared servers. They use graphql 16, also for our schema. */
export function installPeers() {
  installFolder(fileURLToPath(new URL('peers', import.meta.url)));
}
