import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { run } from '../../../src/cli/main.js';
import { describeEngines, type EnginePlace } from '../../support/engines.js';
import { buildMain } from '../../support/build.mjs';
import { start, type Running } from '../../support/process.js';
import { startReceiver, whyNotBelieved, type Receiver } from '../../support/receiver.js';
import { writeFile } from 'node:fs/promises';

describeEngines('serve --workers 2 with webhooks', (engine) => {
  let main: string;
  let place: EnginePlace;
  let receiver: Receiver;
  let service: Running;
  let open: () => void;
  beforeAll(async () => {
    main = await buildMain();
  }, 120_000);
  beforeEach(async () => {
    place = await engine.make();
    receiver = await startReceiver();
    service = await start(main, place.folder, ['serve', '--workers', '2'], place.env);
    const opened = new Promise<void>((resolve) => (open = resolve));
    // Every request is held here until the command has returned.
    receiver.behaviour = async () => {
      await opened;
      return 204;
    };
  });
  afterEach(async () => {
    open();
    service.signal('SIGKILL');
    await service.exited;
    await receiver.close();
    await place.remove();
  });

  const keyfront = async (...args: string[]) => {
    let out = '';
    let stderr = '';
    const code = await run(args, {
      env: place.env,
      stdout: (text) => void (out += text),
      stderr: (text) => void (stderr += text),
      isStderrTTY: false,
      onStop: () => undefined,
    });
    expect([code, stderr]).toStrictEqual([0, stderr]);
    return { out: out.trim(), stderr };
  };

  /** More keys than are sent at a time, so that some wait behind those that the receiver holds. */
  async function importKeys(name: string): Promise<void> {
    const lines = Array.from({ length: 20 }, (_, index) => JSON.stringify({ key_id: `${name}-${index}`, org_id: 'o' }));
    const file = join(place.folder, `${name}.jsonl`);
    await writeFile(file, `${lines.join('\n')}\n`);
    await keyfront('keys', 'import', file);
  }

  async function added(): Promise<{ id: string; secret: string }> {
    const { out, stderr } = await keyfront('webhooks', 'add', '--url', receiver.url);
    await importKeys('before');
    await receiver.until(() => receiver.received.length >= 8);
    return { id: /hook_\w+/.exec(stderr)?.[0] ?? '', secret: out };
  }

  it('signs with the new secret only, once `webhooks rotate --overlap 0` has returned', async () => {
    const { id, secret } = await added();
    const { out } = await keyfront('webhooks', 'rotate', id, '--overlap', '0');
    const { length } = receiver.received;
    open();
    await receiver.until((taken) => taken.length === 20);
    const later = receiver.received.slice(length);
    expect(later.length).toBeGreaterThan(0);
    expect(later.filter((message) => whyNotBelieved(secret, message) === undefined)).toStrictEqual([]);
    expect(later.map((message) => whyNotBelieved(out, message))).toStrictEqual(later.map(() => undefined));
  });

  it.each(['pause', 'remove'])('sends nothing more, once `webhooks %s` has returned', async (command) => {
    const { id } = await added();
    await keyfront('webhooks', command, id);
    const { length } = receiver.received;
    open();
    const other = await startReceiver();
    await keyfront('webhooks', 'add', '--url', other.url);
    await importKeys('after');
    await other.until((taken) => taken.length === 20);
    await other.close();
    expect(receiver.received).toHaveLength(length);
  });
});
