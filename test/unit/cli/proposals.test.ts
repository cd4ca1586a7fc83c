import { expect, it } from 'vitest';
import type { ShownProposal } from '../../../src/cli/client/proposal-operations.js';
import { formatProposal } from '../../../src/cli/proposals.js';

const plain = (text: string) => text;
const paint = { red: plain, green: plain, yellow: plain, dim: plain, bold: plain };
const person = { credentialID: 'cred_1', label: 'ann' };

const proposal: ShownProposal = {
  id: 'prop_1',
  state: 'STALE',
  kind: 'PATCH',
  orgID: 'acme',
  keyHash: 'abc',
  expectedVersion: 1,
  resetsQuota: false,
  reason: '',
  proposedBy: person,
  proposedAt: '2026-01-01T00:00:00.000Z',
  applyAt: undefined,
  expiresAt: undefined,
  approvedBy: undefined,
  approvedAt: undefined,
  approvalReason: undefined,
  endedBy: person,
  endedAt: '2026-01-02T00:00:00.000Z',
  endReason: undefined,
  problem: 'The key has version 2; the expected version is 1.',
  problemIssues: [{ path: ['applyPolicies'], code: 'CHANGED_SINCE', message: 'has changed since version 1' }],
  changes: [],
};

it('names the fields that have changed since a proposal as REST does, and shows no empty reason', () => {
  expect(formatProposal({ isJSON: false, paint }, proposal)).toBe(
    [
      'prop_1  stale  patch of version 1',
      '  key       abc  acme',
      '  proposed  2026-01-01T00:00:00.000Z by ann (cred_1)',
      '  ended     2026-01-02T00:00:00.000Z by ann (cred_1)',
      '  problem   The key has version 2; the expected version is 1.',
      '            apply_policies has changed since version 1',
      '',
    ].join('\n'),
  );
  expect(JSON.parse(formatProposal({ isJSON: true, paint }, proposal))).toMatchObject({
    problem_issues: [{ path: 'apply_policies' }],
  });
});

it('shows no version of a key that is to be created', () => {
  const text = formatProposal({ isJSON: false, paint }, { ...proposal, kind: 'CREATE', expectedVersion: 0 });
  expect(text.split('\n')[0]).toBe('prop_1  stale  create');
});
