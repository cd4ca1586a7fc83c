import { headTable } from '../records/head.js';
import { insertInto, prepared } from './session.js';

/** Reads the head with the name `$1`. */
export const headByName = prepared('SELECT * FROM heads WHERE name = $1');

/** Adds a head with the values of the table's columns, in their order. Does nothing if there is one with its name. */
export const insertHead = prepared(`${insertInto('heads', headTable.columnNames)} ON CONFLICT (name) DO NOTHING`);
