import { join, relative } from 'node:path';
import { applyMutant, readMutant } from './mutant.mjs';

const root = join(import.meta.dirname, '../..');

/** A plugin of Vite that runs the tests against a mutant. */
export function injectMutant(name: string) {
  const mutant = readMutant(name);
  return {
    // Vitest keeps transformed modules from one run to the next, for each list of plugins.
    name: `mutant-${name}`,
    enforce: 'pre' as const,
    transform: (code: string, id: string) => applyMutant(mutant, relative(root, id.replace(/\?.*/, '')), code),
  };
}
