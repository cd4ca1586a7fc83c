import { platform, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { createBoundedQuery } from './bounded-query.js';
import { openToRead } from './database.js';

// On Linux this concerns the calling thread alone: requests that need no worker go first.
if (platform() === 'linux') setPriority(10);

const { file } = workerData as { readonly file: string };

/** Runs one query in a worker thread, on a connection of its own. */
export default createBoundedQuery(openToRead(file));
