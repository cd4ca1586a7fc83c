import { expect, it } from 'vitest';
import { createLoaders } from '../../../src/graphql/dataloaders.js';
import type { KeyService } from '../../../src/keys/key-service.js';
import type { CallContext } from '../../../src/keys/ports.js';
import type { WebhookService } from '../../../src/webhooks/webhook-service.js';
import { eventLoopTurns } from '../../support/until.js';

it('reads a key once, and again after the loader was cleared', async () => {
  const read: string[][] = [];
  const keys = {
    orgKeysByHash: (_caller: unknown, keyHashes: readonly string[]) => {
      read.push([...keyHashes]);
      return Promise.resolve(keyHashes.map(() => undefined));
    },
  } as Partial<KeyService> as KeyService;
  const { orgKeys } = createLoaders({ keys, webhooks: {} as WebhookService }, () => ({}) as CallContext);
  await Promise.all([orgKeys.load('a'), orgKeys.load('b'), orgKeys.load('a')]);
  await eventLoopTurns();
  await Promise.all([orgKeys.load('b'), orgKeys.load('c')]);
  expect(read).toEqual([['a', 'b'], ['c']]);
  orgKeys.clearAll();
  await orgKeys.load('a');
  expect(read).toEqual([['a', 'b'], ['c'], ['a']]);
});
