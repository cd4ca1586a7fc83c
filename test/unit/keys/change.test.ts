import { expect, it } from 'vitest';
import type { KeyDefinition } from '../../../src/keys/definition/schema.js';
import { warningsOf } from '../../../src/keys/definition/warnings.js';
import { executeChange } from '../../../src/keys/change.js';
import type { StoredKey } from '../../../src/keys/key.js';
import type { CallContext, KeyTransition, Ports } from '../../../src/keys/ports.js';
import { aKey } from '../../support/factories.js';

it('finds the warnings of a change once, for its receipt and its response', async () => {
  let reads = 0;
  const input: KeyDefinition = {
    get monitor() {
      reads += 1;
      return undefined;
    },
  };
  const before = aKey(1);
  const after = { ...before, version: 2, definition: { rate: 1 } };
  const update = (_: string, change: (stored: StoredKey) => KeyTransition | undefined) =>
    Promise.resolve(change(before));
  const receipts: unknown[] = [];
  const result = await executeChange(
    {
      now: () => new Date(0),
      store: { update },
      policies: { current: () => Promise.resolve(new Map()) },
    } as unknown as Ports,
    { orgID: undefined } as unknown as CallContext,
    before.keyHash,
    {
      operation: 'update',
      warningsOf: ({ at }) => warningsOf(input, at),
      authorize: () => before,
      apply: () => after,
      receiptOf: (change) => {
        receipts.push(change);
        return undefined;
      },
    },
  );
  expect(result.warnings).toMatchObject([{ code: 'NO_ACCESS_RIGHTS' }]);
  expect(receipts).toStrictEqual([result]);
  expect(reads).toBe(1);
});
