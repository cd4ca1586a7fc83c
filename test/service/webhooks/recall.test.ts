import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importLines } from '../../../src/cli/keys/import-lines.js';
import type { Services } from '../../../src/storage/open-storage.js';
import { createLogger } from '../../../src/lib/log.js';
import { unverifiedEventIDOf } from '../../../src/webhooks/event.js';
import { startDispatcher, type Dispatcher } from '../../../src/webhooks/dispatcher.js';
import { changeWebhook } from '../../../src/webhooks/manage.js';
import { webhookAAD, type WebhookStore } from '../../../src/webhooks/webhook.js';
import { runCommand } from '../../support/cli.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { startOwnReceiver, verificationErrorOf, type Receiver } from '../../support/receiver.js';
import { aDeadLetter } from '../../support/factories.js';
import { openOwnServices } from '../../support/storage.js';
import { until } from '../../support/until.js';
import { quick } from '../../support/webhooks.js';

/** Holds all that reach it until it is opened. */
function createBarrier() {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const pass = () => {
    arrive();
    return opened;
  };
  return { pass, reached, open };
}
type Barrier = ReturnType<typeof createBarrier>;

/** Where the process that delivers stands when a command changes the webhook. */
const places = ['has read the change', 'has read the state', 'has sent the request'] as const;
type Place = (typeof places)[number] | 'has acquired its lease';

describeEngines('after a command has returned', (engine) => {
  let place: EnginePlace;
  let receiver: Receiver;
  let installation: Services;
  let deliverer: Dispatcher | undefined;
  let barrier: Barrier;
  let onLook = () => {};
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    receiver = await startOwnReceiver();
    installation = await openOwnServices(place);
    barrier = createBarrier();
    onLook = () => {};
  });
  afterEach(async () => {
    barrier.open();
    await deliverer?.stop();
  });

  /** Runs a command meanwhile, as another process does: with a connection of its own. */
  const keyfront = async (...args: string[]) => {
    const outcome = await runCommand(args, place.env);
    return { ...outcome, out: outcome.out.trim() };
  };

  const importKeys = (...keyIDs: string[]) =>
    importLines(
      installation,
      keyIDs.map((key_id) => JSON.stringify({ key_id, org_id: 'acme' })),
      { orgID: undefined, passwordsAreHashed: false },
      { onInvalidLine: (_line, reason) => expect.fail(reason), onProgress: () => undefined },
    );

  async function add(url: string): Promise<{ id: string; secret: string }> {
    const { out, stderr } = await keyfront('webhooks', 'add', '--to', url);
    return { id: /hook_\w+/.exec(stderr)?.[0] ?? '', secret: out };
  }

  /** Starts delivering, and holds the deliveries at the place. */
  function deliver(at: Place, overridden: Partial<WebhookStore> = {}): void {
    const { webhooks, feed, sealer } = installation;
    const store: WebhookStore = {
      ...webhooks,
      acquireLeases: async (...given) => {
        const held = await webhooks.acquireLeases(...given);
        onLook();
        if (at === 'has acquired its lease') await barrier.pass();
        return held;
      },
      hasLease: async (...given) => {
        const isHeld = await webhooks.hasLease(...given);
        if (at === 'has read the state') await barrier.pass();
        return isHeld;
      },
      ...overridden,
    };
    if (at === 'has sent the request') {
      receiver.behavior = async () => {
        await barrier.pass();
        return 204;
      };
    }
    deliverer = startDispatcher(
      {
        store,
        history: installation.store,
        feed: {
          ...feed,
          read: async (query) => {
            const page = await feed.read(query);
            if (page.events.length > 0 && at === 'has read the change') await barrier.pass();
            return page;
          },
        },
        sealer,
        allowed: 'loopback',
        log: createLogger('fatal'),
      },
      { ...quick, timeoutMs: 60_000 },
    );
  }

  const looks = (count: number) =>
    new Promise<void>((resolve) => {
      onLook = () => {
        if ((count -= 1) === 0) resolve();
      };
    });

  /**
   * Runs the command while the deliveries are held. They go on when the command has returned, or when the process that
   * delivers has looked for changes three times. Resolves to the result and to what had been received on its return.
   */
  async function during<T>(command: () => Promise<T>): Promise<{ result: T; received: number }> {
    await importKeys('before');
    await barrier.reached;
    const returned = command().then((result) => ({ result, received: receiver.received.length }));
    await Promise.race([returned, looks(3)]);
    barrier.open();
    return returned;
  }

  const untilReceived = async (count: number) => receiver.until(() => receiver.received.length >= count);

  describe.each(places)('while the process that delivers %s', (at) => {
    it('signs with the new secret only, when `webhooks rotate --overlap 0` has returned', async () => {
      const { id, secret } = await add(receiver.url);
      deliver(at);
      const { result, received } = await during(() => keyfront('webhooks', 'rotate', id, '--overlap', '0'));
      expect(result.code).toBe(0);
      await importKeys('after');
      await receiver.until((taken) => taken.length === 2);
      const later = receiver.received.slice(received);
      expect(later.length).toBeGreaterThan(0);
      expect(later.filter((message) => verificationErrorOf(secret, message) === undefined)).toStrictEqual([]);
      expect(later.map((message) => verificationErrorOf(result.out, message))).toStrictEqual(
        later.map(() => undefined),
      );
    });

    it.each(['pause', 'remove'])('sends nothing more, when `webhooks %s` has returned', async (command) => {
      const { id } = await add(receiver.url);
      deliver(at);
      const { result, received } = await during(() => keyfront('webhooks', command, id));
      expect(result.code).toBe(0);
      const other = await startOwnReceiver();
      await add(other.url);
      await importKeys('after');
      // Another webhook shows that the change was delivered, and the looks that the first was left out.
      await other.until((taken) => taken.length === 1);
      await looks(2);
      expect(receiver.received).toHaveLength(received);
    });

    it('sends to the new URL only, when the URL was changed', async () => {
      const { id, secret } = await add(receiver.url);
      const other = await startOwnReceiver();
      deliver(at);
      const sealedURL = installation.sealer.seal(other.url, webhookAAD(id, 'url'));
      const { received } = await during(() =>
        changeWebhook(installation.webhooks, id, (found) => ({ ...found, sealedURL })),
      );
      await importKeys('after');
      await other.until((taken) => taken.some(({ data }) => data.key_hash === installation.ports.hashKeyID('after')));
      expect(receiver.received).toHaveLength(received);
      for (const message of other.received) expect(verificationErrorOf(secret, message)).toBeUndefined();
    });
  });

  it.each([
    ['has read the state', 204],
    ['has sent the request', 500],
  ] as const)(
    'sends and keeps no dead letter, when `webhooks discard` has returned while the process %s',
    async (at, status) => {
      const { id } = await add(receiver.url);
      await importKeys('a');
      const keyHash = installation.ports.hashKeyID('a');
      const { webhooks, feed } = installation;
      await webhooks.acquireLeases('another process', 60_000);
      const dead = aDeadLetter(unverifiedEventIDOf(keyHash, 1), { keyHash, version: 1, lastVersion: 1 });
      // On PostgreSQL, the feed waits for the transactions of other tests.
      await until(async () => (await feed.read({ after: undefined, limit: 1 })).events.length > 0, 'The event');
      await webhooks.recordResults('another process', id, { cursor: await feed.latestCursor(), dead });
      await webhooks.releaseLeases('another process');
      await webhooks.replay({ webhookID: id }, Date.now());
      deliver(at);
      if (at === 'has sent the request') {
        receiver.behavior = async () => {
          await barrier.pass();
          return status;
        };
      }
      await barrier.reached;
      const returned = keyfront('webhooks', 'discard', id).then((result) => ({
        ...result,
        received: receiver.received.length,
      }));
      await Promise.race([returned, until(() => webhooks.isRecalled(id), 'The recall of the lease')]);
      barrier.open();
      const result = await returned;
      expect(result).toMatchObject({ code: 0, stderr: 'Deleted dead letters: 1.\n' });
      await looks(3);
      expect(receiver.received).toHaveLength(result.received);
      expect(await webhooks.deadLetters({ webhookID: id }, 10)).toStrictEqual([]);
    },
  );

  it('holds no lease that was granted while it was stopping', async () => {
    await add(receiver.url);
    deliver('has acquired its lease');
    await barrier.reached;
    const stopped = deliverer?.stop();
    barrier.open();
    await stopped;
    const { held } = await installation.webhooks.acquireLeases('another process', 60_000);
    expect(held).toHaveLength(1);
  });

  it('releases a lease that it finds recalled while it is stopping', async () => {
    let isReleased = false;
    deliver('has acquired its lease', {
      acquireLeases: async () => {
        await barrier.pass();
        return { held: [], recalled: ['hook_1'], damaged: [] };
      },
      releaseLeases: async () => void (isReleased = true),
    });
    await barrier.reached;
    const stopped = deliverer?.stop();
    barrier.open();
    await stopped;
    expect(isReleased).toBe(true);
  });

  it('sends none of the changes that waited behind slow requests under the old secret', async () => {
    const { id, secret } = await add(receiver.url);
    deliver('has sent the request');
    await importKeys(...Array.from({ length: 30 }, (_, index) => `key-${index}`));
    await untilReceived(8);
    const { out } = await keyfront('webhooks', 'rotate', id, '--overlap', '0');
    const { length } = receiver.received;
    barrier.open();
    await receiver.until((taken) => taken.length === 30);
    const later = receiver.received.slice(length);
    expect(later.filter((message) => verificationErrorOf(secret, message) === undefined)).toStrictEqual([]);
    expect(later.map((message) => verificationErrorOf(out, message))).toStrictEqual(later.map(() => undefined));
  });
});
