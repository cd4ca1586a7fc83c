import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGroupCommit } from '../../src/storage/sqlite/group-commit.js';

let database: Database.Database;
let commit: ReturnType<typeof createGroupCommit>['write'];
let begun: number;

const nothing = () => undefined;
const checks = { requireSound: nothing, requireUnmigrated: nothing, verifyFiles: nothing, onCommit: nothing };

beforeEach(() => {
  begun = 0;
  database = new Database(':memory:', { verbose: (sql) => (begun += /^BEGIN/.test(String(sql)) ? 1 : 0) });
  database.exec('CREATE TABLE rows (name TEXT PRIMARY KEY) STRICT');
  commit = createGroupCommit(database, checks, undefined, undefined, () => 0).write;
});
afterEach(() => database.close());

const rows = () =>
  database
    .prepare<[], { name: string }>('SELECT name FROM rows ORDER BY name')
    .all()
    .map((row) => row.name);
/** A change of two statements, which must be in one transaction. */
function addTwice(name: string, fail?: () => void) {
  const add = database.prepare<[string]>('INSERT INTO rows VALUES (?)');
  return () => {
    add.run(name);
    fail?.();
    add.run(`${name}'`);
    return name;
  };
}

describe('group commit', () => {
  it('commits concurrent changes in one transaction, and returns to each its own value', async () => {
    const responses = await Promise.all(['a', 'b', 'c'].map((name) => commit(addTwice(name))));
    expect([responses, rows(), begun]).toEqual([['a', 'b', 'c'], ['a', "a'", 'b', "b'", 'c', "c'"], 1]);
  });

  it('resolves no change before the commit of all', async () => {
    const seen: boolean[] = [];
    await Promise.all(
      ['a', 'b'].map(async (name) => {
        await commit(addTwice(name));
        seen.push(database.inTransaction);
      }),
    );
    expect(seen).toEqual([false, false]);
  });

  it('undoes a change that throws, and no other', async () => {
    const outcomes = await Promise.allSettled([
      commit(addTwice('a')),
      commit(
        addTwice('b', () => {
          throw new Error('not this one');
        }),
      ),
      commit(addTwice('c')),
      commit(addTwice('a')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    expect(rows()).toEqual(['a', "a'", 'c', "c'"]);
  });

  it('shows each change the writes of those before it in the group', async () => {
    const count = () => rows().length;
    expect(await Promise.all([commit(count), commit(addTwice('a')), commit(count)])).toEqual([0, 'a', 2]);
  });

  it('rejects all changes of a group when its commit fails, and keeps none', async () => {
    database.pragma('foreign_keys = ON');
    database.exec(`CREATE TABLE children (parent TEXT REFERENCES rows (name) DEFERRABLE INITIALLY DEFERRED) STRICT`);
    const orphan = () => void database.prepare("INSERT INTO children VALUES ('none')").run();
    const outcomes = await Promise.allSettled([commit(addTwice('a')), commit(orphan), commit(addTwice('b'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect([rows(), database.inTransaction]).toEqual([[], false]);
    await commit(addTwice('later'));
    expect(rows()).toEqual(['later', "later'"]);
  });

  it('rejects all changes of a group when an error undoes the whole transaction', async () => {
    const rollback = () => void database.exec('ROLLBACK');
    const outcomes = await Promise.allSettled([
      commit(addTwice('a')),
      commit(() => {
        rollback();
        throw new Error('the disk is gone');
      }),
      commit(addTwice('b')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(rows()).toEqual([]);
  });

  it('runs a single change in a transaction, and undoes it when it throws', async () => {
    await commit(addTwice('a'));
    expect(begun).toBe(1);
    await expect(
      commit(
        addTwice('b', () => {
          throw new Error('no');
        }),
      ),
    ).rejects.toThrow('no');
    expect([rows(), begun]).toEqual([['a', "a'"], 2]);
  });

  it('commits any number, at most 128 at once, in the order of the calls', async () => {
    const order: number[] = [];
    const insert = (n: number) => () => order.push(n);
    await Promise.all(Array.from({ length: 300 }, (_, n) => commit(insert(n))));
    expect(order).toEqual(Array.from({ length: 300 }, (_, n) => n));
    expect(begun).toBe(3);
  });

  it('starts no further change of a group after 10 ms, and commits the others next, in order', async () => {
    let nowMs = 0;
    const { write: slow } = createGroupCommit(database, checks, undefined, undefined, () => nowMs);
    const order: number[] = [];
    const between: number[] = [];
    const done = Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        slow(() => {
          nowMs += 6;
          order.push(n);
          setImmediate(() => between.push(order.length));
          return n;
        }),
      ),
    );
    expect(await done).toEqual([0, 1, 2, 3, 4]);
    expect([order, begun]).toEqual([[0, 1, 2, 3, 4], 3]);
    // Other work of the process ran between the transactions.
    expect(new Set(between)).toContain(2);
  });
});
