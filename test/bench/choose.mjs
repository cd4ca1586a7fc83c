import { installPeers } from './peers.mjs';
import { servers } from './servers.mjs';

/** Returns the servers with these comma-separated names, by default all, and installs their packages. */
export function chooseServers(/** @type {string | undefined} */ names) {
  const wanted = names?.split(',') ?? servers.map(({ name }) => name);
  const unknownNames = wanted.filter((name) => !servers.some((server) => server.name === name));
  if (unknownNames.length > 0)
    throw new Error(`${unknownNames} is none of ${servers.map(({ name }) => name).join(', ')}.`);
  const chosen = servers.filter(({ name }) => wanted.includes(name));
  if (chosen.some(({ isPeer }) => isPeer)) installPeers();
  return chosen;
}
