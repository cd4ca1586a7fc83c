import { describe, expect, it } from 'vitest';
import { requirements, securityDocument, titlesByLine, untested } from '../support/checklist.js';

/** How many lines the checklist has under each letter. */
const lengths = { T: 10, A: 12, G: 23, R: 14, D: 16, S: 12, C: 7, P: 5, O: 8 };
const ids = Object.entries(lengths).flatMap(([letter, length]) =>
  Array.from({ length }, (_, index) => `${letter}-${String(index + 1).padStart(2, '0')}`),
);

describe('the hardening checklist', () => {
  const titles = titlesByLine();

  it('has each of the 107 lines once, in order', () => {
    expect(ids).toHaveLength(107);
    expect(Object.keys(requirements)).toEqual(ids);
  });

  it.each(ids)('has a test with %s in its title, or a reason', (id) => {
    expect(titles.has(id) || /^.{20,}\.$/.test(untested[id] ?? '')).toBe(true);
  });

  it('contains every identifier in titles of tests', () => {
    expect([...titles.keys()].filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('equals the table of SECURITY.md, which `npx node test/support/checklist.ts` writes', () => {
    const { actual, expected } = securityDocument();
    expect(actual).toBe(expected);
  });
});
