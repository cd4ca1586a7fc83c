import { describe, expect, it } from 'vitest';
import { insertInto, prepared, unprepared, updateByID, valuesOf } from '../../../src/storage/sql/session.js';

describe('a statement', () => {
  it('is prepared under a name that is shorter than the 64 characters of PostgreSQL, one for each text', () => {
    const [one, other] = [prepared('SELECT 1'), prepared('SELECT 2')];
    expect(one.name).toMatch(/^[\da-f]{24}$/);
    expect(prepared('SELECT 1')).toStrictEqual(one);
    expect(other.name).not.toBe(one.name);
  });

  it('has no name if it is planned for each execution', () => {
    expect(unprepared('SELECT 1')).toStrictEqual({ name: '', text: 'SELECT 1' });
  });

  it('has a parameter for each column of a row, in their order', () => {
    expect(insertInto('rows', ['id', 'name'])).toBe('INSERT INTO rows (id, name) VALUES ($1, $2)');
    expect(updateByID('rows', ['id', 'name', 'mac'])).toBe('UPDATE rows SET name = $2, mac = $3 WHERE id = $1');
    expect(valuesOf({ name: 'a', id: 1n }, ['id', 'name'])).toStrictEqual([1n, 'a']);
  });
});
