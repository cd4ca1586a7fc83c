import Database from 'better-sqlite3';
import { vi } from 'vitest';

/**
 * Returns the SQL of the statements on a table that SQLite executes during the work, in order. The clock stands still,
 * so that no read exceeds its time limit and is repeated in a worker thread.
 */
export async function statementsDuring(
  work: () => Promise<unknown>,
  table = /\b(keys|history|key_terms)\b/,
): Promise<string[]> {
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Database.Statement;
  const executed: string[] = [];
  const spies = (['get', 'all', 'iterate'] as const).map((name) => {
    const original = Reflect.get(statement, name) as (...values: unknown[]) => unknown;
    return vi.spyOn(statement, name).mockImplementation(function (this: Database.Statement, ...values: unknown[]) {
      if (table.test(this.source)) executed.push(this.source);
      return original.apply(this, values);
    });
  });
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await work();
    return executed;
  } finally {
    vi.useRealTimers();
    for (const spy of spies) spy.mockRestore();
  }
}
