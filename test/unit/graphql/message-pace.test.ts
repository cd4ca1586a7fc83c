import { expect, it } from 'vitest';
import { createPace } from '../../../src/graphql/websocket/message-reader.js';

it('lets a connection send a thousand messages at once, and a thousand a second from then on', () => {
  let nowMs = 5_000;
  const waitMsFor = createPace(() => nowMs);
  for (let sent = 0; sent < 1_000; sent += 1) expect(waitMsFor(100)).toBe(0);
  expect(waitMsFor(100)).toBe(1);
  nowMs += 500;
  for (let sent = 0; sent < 499; sent += 1) expect(waitMsFor(100)).toBe(0);
  expect(waitMsFor(100)).toBe(1);
});

it('lets a connection send 2 MiB at once, and 2 MiB a second from then on', () => {
  let nowMs = 5_000;
  const waitMsFor = createPace(() => nowMs);
  for (let sent = 0; sent < 16; sent += 1) expect(waitMsFor(125 * 1024)).toBe(0);
  expect(waitMsFor(129 * 1024)).toBe(64.5);
  nowMs += 60_000;
  for (let sent = 0; sent < 16; sent += 1) expect(waitMsFor(125 * 1024)).toBe(0);
});
