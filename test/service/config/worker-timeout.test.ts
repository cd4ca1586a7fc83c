import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.js';

describe('KEYFRONT_WORKER_TIMEOUT_SECONDS', () => {
  it('is 30 seconds by default', () => {
    expect(readConfig({}).config.workerTimeoutMs).toBe(30_000);
    expect(readConfig({ KEYFRONT_WORKER_TIMEOUT_SECONDS: '5' }).config.workerTimeoutMs).toBe(5_000);
  });

  it.each(['', '0', '-1', '1.5', '3601', '10s'])('rejects %j', (value) => {
    expect(() => readConfig({ KEYFRONT_WORKER_TIMEOUT_SECONDS: value })).toThrow(
      'KEYFRONT_WORKER_TIMEOUT_SECONDS must be a number of seconds from 1 to 3600.',
    );
  });
});
