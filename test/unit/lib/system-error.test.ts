import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeError, explainSystemError } from '../../../src/lib/system-error.js';

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It does not fail.');
}

const missing = errorOf(() => readFileSync('/nowhere/file'));
const folder = errorOf(() => readFileSync('/'));

describe('an error of the operating system', () => {
  it('is explained in words with its code', () => {
    expect(explainSystemError(missing)).toBe('it does not exist; check the path (ENOENT)');
    expect(explainSystemError(folder)).toBe('it is a folder; name a file (EISDIR)');
    expect(explainSystemError(Object.assign(new Error('x'), { code: 'EXOTIC' }))).toBe('EXOTIC');
    expect(explainSystemError(new Error('x'))).toBe('unknown reason');
  });

  it('has a message that names the file, if it is known', () => {
    expect(describeError(missing)).toBe('/nowhere/file cannot be used: it does not exist; check the path (ENOENT).');
    expect(describeError(folder)).toBe('A file cannot be used: it is a folder; name a file (EISDIR).');
  });
});

describe('any other error', () => {
  it('keeps its message', () => {
    expect(describeError(new Error('The port is in use.'))).toBe('The port is in use.');
    const own = Object.assign(new Error('The file cannot be read.'), { code: 'ENOENT' });
    expect(describeError(own)).toBe('The file cannot be read.');
    expect(describeError('text')).toBe('An unknown error occurred.');
  });
});
