import { describe, expect, it } from 'vitest';
import { compare, wrongResponses } from './kit/compare.js';
import type { Entry } from './kit/ledger.js';
import type { Stored } from './kit/stored.js';
import { hashOf } from '../support/factories.js';

function entry(mark: string, outcome: Entry['outcome'], more: Partial<Entry> = {}): Entry {
  return {
    kind: 'update',
    api: 'rest',
    keyID: 'k',
    mark,
    amount: 0,
    outcome,
    response: '',
    sent: 0,
    completed: 0,
    ...more,
  };
}

/** A database in which a key has seen these changes, the import first. */
function stored(
  marks: readonly string[],
  more: Partial<{ mark: string; version: number; terms: string[]; used: number }> = {},
): Stored {
  const history = ['start', ...marks].map((mark, index) => ({ version: index + 1, mark }));
  const last = history.at(-1) ?? { version: 0, mark: '' };
  return {
    keys: new Map([[hashOf('k'), { ...last, terms: [last.mark], used: 0, ...more }]]),
    histories: new Map([[hashOf('k'), history]]),
    credentials: 0,
  };
}

const consumed = (amount: number, outcome: Entry['outcome']) => entry('c', outcome, { kind: 'consume', amount });

describe('the comparison of a database with the acknowledged changes', () => {
  it.each<[string, Entry[], Stored]>([
    ['an acknowledged change is stored', [entry('a', 'ok', { version: 2 })], stored(['a'])],
    ['an undecided change is stored', [entry('a', 'maybe')], stored(['a'])],
    ['an undecided change is not stored', [entry('a', 'maybe')], stored([])],
    ['a rejected change is not stored', [entry('a', 'rejected')], stored([])],
    ['undecided consumption is counted', [consumed(3, 'ok'), consumed(4, 'maybe')], stored([], { used: 7 })],
    ['undecided consumption is not counted', [consumed(3, 'ok'), consumed(4, 'maybe')], stored([], { used: 3 })],
  ])('reports nothing if %s', (_, ledger, database) => {
    expect(compare(ledger, database)).toEqual([]);
  });

  it.each<[string, string, Entry[], Stored]>([
    ['lost', 'is not stored', [entry('a', 'ok', { version: 2 })], stored([])],
    [
      'lost',
      'has the version of another change',
      [entry('a', 'ok', { version: 2 }), entry('b', 'maybe')],
      stored(['b']),
    ],
    ['lost', 'consumed quota and is not counted', [consumed(3, 'ok')], stored([], { used: 2 })],
    ['invented', 'was rejected', [entry('a', 'rejected')], stored(['a'])],
    ['invented', 'no client requested', [], stored(['a'])],
    ['invented', 'is stored twice', [entry('a', 'ok', { version: 2 })], stored(['a', 'a'])],
    ['invented', 'belongs to another key', [entry('a', 'maybe', { keyID: 'other' })], stored(['a'])],
    ['invented', 'is counted although it was rejected', [consumed(3, 'rejected')], stored([], { used: 3 })],
    ['half', 'is in the history and not in the key', [entry('a', 'maybe')], stored(['a'], { mark: 'start' })],
    ['half', 'is in the key and not in the history', [], stored([], { mark: 'a', version: 2 })],
    ['half', 'is in the key and not in its tags', [entry('a', 'maybe')], stored(['a'], { terms: ['start'] })],
  ])('reports as %s a change that %s', (kind, _, ledger, database) => {
    expect(compare(ledger, database).map((finding) => finding.kind)).toContain(kind);
  });

  it('reports responses that contradict themselves', () => {
    expect(wrongResponses([entry('a', 'ok'), entry('b', 'maybe', { flaw: 'is no JSON object' })])).toMatchObject([
      { kind: 'wrong response', what: expect.stringContaining('update b of k (rest): the response is no JSON object') },
    ]);
  });
});
