import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runCommand } from '../../support/cli.js';
import { startReceiver, verificationErrorOf } from '../../support/receiver.js';
import { useProcesses } from '../../support/processes.js';

const { path, start } = useProcesses();

// The other commands, the moments of the delivery and PostgreSQL: test/service/webhooks/recall.test.ts.
it('serve --workers 2 signs with the new secret only, once `webhooks rotate --overlap 0` has returned', async () => {
  const receiver = await startReceiver();
  const service = await start(['serve', '--workers', '2']);
  // Every request is held here until the command has returned.
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  receiver.behavior = async () => {
    await opened;
    return 204;
  };
  const keyfront = async (...args: string[]) => {
    const { code, out, stderr } = await runCommand(args, { KEYFRONT_DATA: path('data') });
    expect([code, stderr]).toStrictEqual([0, stderr]);
    return { out: out.trim(), stderr };
  };
  const { out: secret, stderr } = await keyfront('webhooks', 'add', '--to', receiver.url);
  // More keys than are sent at a time, so that some wait behind those that the receiver holds.
  const lines = Array.from({ length: 20 }, (_, index) => JSON.stringify({ key_id: `key-${index}`, org_id: 'o' }));
  await writeFile(path('keys.jsonl'), `${lines.join('\n')}\n`);
  await keyfront('keys', 'import', path('keys.jsonl'));
  await receiver.until(() => receiver.received.length >= 8);

  const { out } = await keyfront('webhooks', 'rotate', /hook_\w+/.exec(stderr)?.[0] ?? '', '--overlap', '0');
  const { length } = receiver.received;
  open();
  await receiver.until((taken) => taken.length === 20);
  const later = receiver.received.slice(length);
  expect(later.length).toBeGreaterThan(0);
  expect(later.filter((message) => verificationErrorOf(secret, message) === undefined)).toStrictEqual([]);
  expect(later.map((message) => verificationErrorOf(out, message))).toStrictEqual(later.map(() => undefined));
  service.signal('SIGTERM');
  expect(await service.exited).toMatchObject({ code: 0 });
  await receiver.close();
});
