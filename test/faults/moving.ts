import { cp, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { startApp } from '../support/app.js';
import { createProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { evenly } from './kit/sizes.js';
import type { Finding } from './kit/compare.js';
import { startReport, type Report } from './kit/report.js';
import { launch } from './kit/service.js';
import { statement } from './kit/stored.js';
import { importKeys, type FaultRun } from './kit/workspace.js';

/*
 * Kills `keyfront migrate-store` when it has sent so and so much to PostgreSQL, from its first word to its last, and runs
 * it again, now and then after the file has changed. In the end the database must hold every row of the file as it is then,
 * and no other.
 */

interface MovingRun extends Omit<FaultRun, 'mutant'> {
  /** At most so many kills, evenly spread. */
  readonly kills: number;
  /** Gives an empty database. */
  readonly database: () => Promise<{ readonly url: string; readonly drop: () => Promise<void> }>;
  /** Done to the database at the end, before it is looked at: what the harness must find. */
  readonly tampering?: string | undefined;
}

/** Several ranges of what is moved at a time. */
const keys = 650;

export async function killMoving({ main, workspace, seed, kills, database, tampering }: MovingRun): Promise<Report> {
  const report = startReport('kill -9 of migrate-store', seed);
  const folder = await mkdtemp(join(workspace.folder, 'moving-'));
  const template = join(folder, 'moved');
  await makeSource(template, folder);

  /** Runs the command until it ends, or has sent this number of chunks. */
  const attempt = async (data: string, url: string, chunk: number) => {
    const proxy = await createProxy(url);
    const running = launch({ main, data, args: ['migrate-store'], env: { KEYFRONT_DATABASE_URL: proxy.url } });
    proxy.afterChunks(chunk, () => running.kill('SIGKILL'));
    const { code } = await running.exited;
    // The server executes what it has received, and then closes the connection.
    await until(() => proxy.connections() === 0, 'The end of the connections');
    await proxy.close();
    return { code, stderr: running.stderr(), chunks: proxy.chunks() };
  };

  const whole = await database();
  await cp(template, join(folder, 'whole'), { recursive: true });
  const { chunks } = await attempt(join(folder, 'whole'), whole.url, Infinity);
  await whole.drop();

  let carried = 0;
  let finished = 0;
  for (const [number, chunk] of evenly(chunks, kills).entries()) {
    if (report.found() > 0) break;
    const where = `MOVING_KILLS=${kills}, after ${chunk} of ${chunks} chunks`;
    const data = join(folder, `moved-${number}`);
    await cp(template, data, { recursive: true });
    const { url, drop } = await database();
    report.addCase();
    const first = await attempt(data, url, chunk);
    const isComplete = first.code === 0 || (await isMoved(url));
    if (isComplete && !isMarked(data)) {
      report.addFindings([{ kind: 'wrong response', what: 'the file may be served beside the database' }], where);
    }
    if (isComplete) finished += 1;
    else if (number % 2 === 1) {
      await changeSource(data, number);
      carried += 1;
    }
    const again = await attempt(data, url, Infinity);
    // An attempt that was killed after its last statement had completed the migration.
    const message = isComplete ? /The migration is complete/ : /read each back/;
    if (again.code !== 0 || !message.test(again.stderr) || !isMarked(data)) {
      report.addFindings([{ kind: 'wrong response', what: `the next attempt: ${again.code}, ${again.stderr}` }], where);
    }
    if (tampering !== undefined) await statement(url, tampering);
    report.addFindings(await differences(data, url), where);
    await drop();
  }
  return report.end({ chunks, carried, finished });
}

/** A data folder with histories, deleted keys and secrets, that nothing has been moved from. */
async function makeSource(data: string, folder: string): Promise<void> {
  const moved = Array.from({ length: keys }, (_, index) => ({
    key_id: `key-${index}`,
    org_id: index % 2 === 0 ? 'acme' : 'globex',
    alias: `Nr ${index}`,
    tags: ['all', `tag-${index % 7}`],
    hmac_string: `secret ${index}`,
  }));
  const file = join(folder, 'moved.jsonl');
  await importKeys(data, file, moved);
  await changeSource(data, 0);
}

/** Changes, deletes and adds keys, and issues a credential. */
async function changeSource(data: string, number: number): Promise<void> {
  // The file may be marked already, when the kill came just before the end.
  const t = await startApp({ KEYFRONT_DATA: data }, { openOptions: { allowMigrated: true } });
  const headers = { 'x-svc-authorization': t.service, 'content-type': 'application/json' };
  const send = async (method: string, keyID: string, body?: object) => {
    const path = `/svc/org/keys/${keyID}`;
    const { status } = await t.send(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (status >= 300) throw new Error(`${method} ${keyID} returned ${status}.`);
  };
  for (let index = 0; index < 12; index += 1) {
    await send('PUT', `key-${number * 20 + index * 7}`, { alias: `changed ${number}`, tags: [`new ${number}`] });
  }
  await send('DELETE', `key-${number * 20 + 3}`);
  await send('POST', `added-${number}`, { alias: 'added', org_id: 'acme' });
  await t.close();
}

/** The rows of a table as texts, read past all code of ours. */
function form(rows: readonly object[]): string[] {
  const value = (column: unknown) =>
    column instanceof Uint8Array ? Buffer.from(column).toString('hex') : column === null ? 'null' : `${String(column)}`;
  return rows.map((row) =>
    Object.entries(row)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, column]) => `${name}=${value(column)}`)
      .join(' '),
  );
}

/** Every table but the settings, which a moving changes, with the columns that both engines have. */
function tablesOf(file: Database.Database): { table: string; columns: string }[] {
  return file
    .prepare<[], { table: string; columns: string }>(
      `SELECT t.name AS "table", group_concat(c.name) AS columns FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'settings' GROUP BY t.name`,
    )
    .all();
}

async function differences(data: string, url: string): Promise<Finding[]> {
  const file = new Database(join(data, 'keyfront.db'), { readonly: true });
  file.defaultSafeIntegers(true);
  const findings: Finding[] = [];
  for (const { table, columns } of tablesOf(file)) {
    const wanted = form(file.prepare<[], object>(`SELECT ${columns} FROM ${table}`).all());
    const found = form(await statement(url, `SELECT ${columns} FROM ${table}`));
    const [there, meant] = [new Set(found), new Set(wanted)];
    const name = (row: string) => `${table}: ${row.slice(0, 120)}`;
    findings.push(
      ...wanted.filter((row) => !there.has(row)).map((row): Finding => ({ kind: 'lost', what: name(row) })),
      ...found.filter((row) => !meant.has(row)).map((row): Finding => ({ kind: 'invented', what: name(row) })),
    );
    if (found.length !== there.size) findings.push({ kind: 'invented', what: `${table} has rows twice` });
  }
  file.close();
  return findings;
}

/** Whether the file is marked as copied. */
function isMarked(data: string): boolean {
  const file = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    return file.prepare("SELECT 1 FROM settings WHERE name = 'migrated_to'").get() !== undefined;
  } finally {
    file.close();
  }
}

/** Whether the moving had come to its end. */
async function isMoved(url: string): Promise<boolean> {
  const [row] = await statement<{ is_moved: boolean }>(
    url,
    `SELECT to_regclass('credentials') IS NOT NULL AS is_moved`,
  );
  if (row?.is_moved !== true) return false;
  const settings = await statement<{ name: string }>(url, 'SELECT name FROM settings');
  const names = settings.map(({ name }) => name);
  return names.includes('key_ring') && !names.includes('moving_from');
}
