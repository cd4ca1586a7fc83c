import { expect, it } from 'vitest';
import { formatChanges } from '../../../src/cli/changes.js';

const plain = (text: string) => text;
const paint = { red: plain, green: plain, yellow: plain, dim: plain, bold: plain };

it('formats every field in Unix seconds as a date too', () => {
  const text = formatChanges({ isJSON: false, paint }, [
    { path: ['idExtractorDeadline'], kind: 'ADDED', after: 1893456000n },
    { path: ['sessionLifetime'], kind: 'ADDED', after: 3600n },
  ]);
  expect(text).toBe('  + id_extractor_deadline  1893456000 (2030-01-01T00:00:00.000Z)\n  + session_lifetime  3600\n');
});
