import { expect, it } from 'vitest';
import { actorFromText, actorToText } from '../../../src/storage/records/actor-text.js';

it.each([
  [{ label: 'dashboard' }, 'dashboard'],
  [{ label: 'dashboard', assertedName: 'Ana' }, 'dashboard\u001fAna'],
  [{ label: 'Ada Lovelace', client: 'console' }, 'Ada Lovelace\u001econsole'],
  [{ label: 'Ada', assertedName: 'Ana', client: 'console' }, 'Ada\u001fAna\u001econsole'],
  [{ label: 'a\u001fb' }, 'a\u001fb\u001f'],
  [{ label: 'a\u001eb' }, 'a\u001eb\u001e'],
  [{ label: 'a\u001eb\u001fc' }, 'a\u001eb\u001fc\u001f\u001e'],
  [{ label: 'a\u001eb', client: 'c' }, 'a\u001eb\u001ec'],
  [{ label: '' }, ''],
])('the actor %j is stored as a text and read as it was', (actor, text) => {
  expect(actorToText(actor)).toBe(text);
  expect(actorFromText(text)).toStrictEqual(actor);
});
