import type { Value } from './session.js';

/** Collects the parameters of a statement. Cursors may contain NUL, which is replaced by the next character in their order. */
export function createParameters(parameters: Value[] = []) {
  const add = (value: string | bigint | readonly bigint[]) => {
    parameters.push(typeof value === 'string' ? value.replaceAll('\0', '\u0001') : value);
    return `$${parameters.length}`;
  };
  return { parameters, add };
}

/** Adds a parameter and returns its number in the statement. */
export type Add = ReturnType<typeof createParameters>['add'];
