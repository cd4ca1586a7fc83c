/**
 * The options of Node that the service runs with: a larger young generation, no `__proto__`. Code from strings stays
 * permitted, because better-sqlite3 13 makes the constructors of rows with it, and zod validators (from names of columns and
 * fields, never from data).
 * `npm start` and the image repeat them, which saves the process that `bin/keyfront.ts` needs; a test compares all three.
 */
export const nodeOptions = ['--max-semi-space-size=32', '--disable-proto=delete'] as const;

/** The options of `nodeOptions` that a process was started without; their values may differ. */
export function missingNodeOptions(given: readonly string[]): readonly string[] {
  const names = new Set(given.map(nameOf));
  return nodeOptions.filter((option) => !names.has(nameOf(option)));
}

function nameOf(option: string): string {
  return option.split('=', 1)[0]?.replaceAll('_', '-') ?? '';
}
