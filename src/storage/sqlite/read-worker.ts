import { platform, setPriority } from 'node:os';
import { createBoundedQuery, type BoundedQuery, type Query, type QueryResult } from './bounded-query.js';
import { openReadOnly } from './connection.js';

// On Linux this affects only this thread: other requests have priority.
if (platform() === 'linux') setPriority(10);

/** A query of a database file. */
export interface ReadTask {
  readonly file: string;
  readonly query: Query;
}

let run: BoundedQuery | undefined;

/**
 * Runs one query in a worker thread. The first query opens the thread's connection, so that a database which cannot be
 * opened rejects that query; an error while the thread starts would end the process. A newer version may have migrated it
 * since this process opened it.
 */
export default function runQuery({ file, query }: ReadTask): QueryResult {
  run ??= createBoundedQuery(openReadOnly(file, true));
  return run(query);
}
