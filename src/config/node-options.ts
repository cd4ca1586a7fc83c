/**
 * The options of Node for the service: a larger young generation; a heap that doubles before it is collected, where V8
 * may let it grow fourfold; no `__proto__`. Code generation from strings stays permitted: better-sqlite3 13 generates
 * the constructors of rows, and zod its validators, from names of columns and fields and never from data. `npm start`
 * and the image repeat these options, which saves the additional process of `bin/keyfront.ts`; a test compares all
 * three.
 */
export const nodeOptions = [
  '--max-semi-space-size=32',
  '--heap-growing-percent=100',
  '--disable-proto=delete',
] as const;

/** The options of `nodeOptions` that a process was started without; their values may differ. */
export function missingNodeOptions(given: readonly string[]): readonly string[] {
  const names = new Set(given.map(nameOf));
  return nodeOptions.filter((option) => !names.has(nameOf(option)));
}

function nameOf(option: string): string {
  return option.split('=', 1)[0]?.replaceAll('_', '-') ?? '';
}
