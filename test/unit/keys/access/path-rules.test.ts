import { describe, expect, it } from 'vitest';
import { findMatch, matchablePath, maxPathWork, patternProblem } from '../../../../src/keys/access/path-rules.js';

const matches = (pattern: string, path: string) => {
  const text = matchablePath(path);
  return text !== undefined && findMatch([{ url: pattern }], text).rule !== undefined;
};

describe('a pattern', () => {
  it.each([
    ['/invoices', '/invoices'],
    ['/invoices', '/invoices/1'],
    ['/invoices/.*', '/invoices/1?x=/y'],
    ['^/invoices$', '/invoices'],
    ['/invoices/[0-9]+$', '/invoices/12'],
    ['/a?b', '/b'],
    ['/a{2}b', '/aab'],
    ['/a|/b', '/b/1'],
    ['(?i)/INVOICES', '/invoices'],
    ['.*/export', '/a/b/export'],
    ['/caf%C3%A9', '/caf%25C3%25A9'],
    ['/café', '/caf%C3%A9'],
    ['/a b', '/a%20b'],
  ])('%s permits %s', (pattern, path) => {
    expect(matches(pattern, path)).toBe(true);
  });

  it.each([
    ['/invoices', '/x/invoices'],
    ['/invoices', '//invoices'],
    ['^/invoices$', '/invoices/1'],
    ['/invoices/.*', '/invoices'],
    ['/a|/b', '/c'],
    ['/a)|(?:.*', '/c'],
    ['/(', '/('],
    ['/a(?=b)', '/ab'],
    ['/(a)\\1', '/aa'],
    ['\\pL', '/a'],
    ['.*', '/a/../b'],
    ['.*', '/a/%2e%2E/b'],
    ['.*', '/a/./b'],
    ['.*', '/a/..'],
    ['.*', '/a\\..\\b'],
    ['.*', '/a%00'],
    ['.*', '/%'],
    ['.*', '/%ff'],
    ['.*', 'a'],
    ['.*', ''],
    ['.*', `/${'a'.repeat(2048)}`],
  ])('%s denies %s', (pattern, path) => {
    expect(matches(pattern, path)).toBe(false);
  });

  it.each<[string, string | undefined]>([
    ['/invoices/.*', undefined],
    ['/invoices/[0-9]{1,19}$', undefined],
    ['/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', undefined],
    ['/(', 'MALFORMED'],
    ['/a(?=b)', 'MALFORMED'],
    ['/[z-a]', 'MALFORMED'],
    ['/a{1000}', 'TOO_LARGE'],
    ['/(a{30}){30}', 'TOO_LARGE'],
    ['/((((a{9}){9}){9}){9})', 'TOO_LARGE'],
    [`/${'(a|b)'.repeat(400)}`, 'TOO_LARGE'],
    ['/a{999999999}', 'MALFORMED'],
    ['(?:a?){400}a{400}', 'TOO_LARGE'],
    // The engine, which rejects these as malformed, does not read them: they are too large before.
    [`${'[ab]'.repeat(501)}(`, 'TOO_LARGE'],
    ['[a]b{2000}', 'TOO_LARGE'],
    ['{a{2000}', 'TOO_LARGE'],
  ])('%s has the problem %s', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem);
  });
});

describe('a decision with many patterns', () => {
  const path = matchablePath(`/${'a'.repeat(500)}`) ?? { text: '' };

  it('finds the one that permits the path behind a thousand that start otherwise', () => {
    const rules = Array.from({ length: 1000 }, (_, index) => ({ url: `/b${index}/.*` }));
    expect(findMatch([...rules, { url: '/a+$' }], path)).toMatchObject({ rule: { url: '/a+$' } });
  });

  it('ends with none when it would take too long', () => {
    const rules = Array.from({ length: 1000 }, (_, index) => ({ url: `/(.*a){20}[b-z]{${index % 5}}x` }));
    expect(findMatch([...rules, { url: '/a+$' }], path)).toMatchObject({ rule: undefined, isComplete: false });
  });

  it('says that a pattern could not be evaluated', () => {
    expect(findMatch([{ url: '/b(' }, { url: '/b' }], path)).toMatchObject({ rule: undefined, isComplete: true });
    expect(findMatch([{ url: '/((' }, { url: '(' }], path)).toMatchObject({ rule: undefined, isComplete: false });
  });

  it.each<[string, (index: number) => string]>([
    ['nested repetitions', (index) => `/(((a*)*)*)*b${index}`],
    ['the largest repetition', (index) => `/a{1,200}b${index}`],
    ['many choices', (index) => `/(${'aab|'.repeat(80)}b${index})`],
    ['a malformed end', (index) => `/${'a?'.repeat(100)}${index}(`],
    ['more than may be compiled', (index) => `/${'a?'.repeat(2000)}${index}`],
    ['anything at first', (index) => `.*.*.*.*x${index}$`],
    ['the same pattern', () => '/(a*)*b'],
  ])('does a bounded work with hostile patterns: %s', (_, pattern) => {
    const longest = matchablePath(`/${'a'.repeat(2047)}`) ?? { text: '' };
    let tried = 0;
    const rules = {
      *[Symbol.iterator]() {
        for (; tried < 100_000; tried += 1) yield { url: pattern(tried) };
      },
    };
    // One pattern has at most 500 instructions, of which each takes the characters of the path and 100 more.
    const mostOfOne = 500 * (longest.text.length + 100);
    const first = findMatch(rules, longest);
    expect(first).toMatchObject({ rule: undefined, isComplete: false });
    expect(first.work).toBeGreaterThan(maxPathWork);
    expect(first.work).toBeLessThanOrEqual(maxPathWork + mostOfOne);
    expect(tried).toBeLessThan(2100);
    // With the patterns compiled, it ends at the same rule: the decision does not depend on those before it.
    const before = tried;
    tried = 0;
    expect(findMatch(rules, longest)).toEqual(first);
    expect(tried).toBe(before);
  });
});
