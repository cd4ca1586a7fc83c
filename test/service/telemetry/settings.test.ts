import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.js';

describe('the settings of metrics', () => {
  it('measure nothing without a port, and listen on loopback by default', () => {
    expect(readConfig({}).config.metrics).toBeUndefined();
    expect(readConfig({ KEYFRONT_METRICS_PORT: '9464' }).config.metrics).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(
      readConfig({ NODE_ENV: 'production', KEYFRONT_METRICS_PORT: '9464', KEYFRONT_METRICS_HOST: '0.0.0.0' }).config
        .metrics,
    ).toEqual({ host: '0.0.0.0', port: 9464 });
  });

  it.each<[Record<string, string>, string]>([
    [{ KEYFRONT_METRICS_PORT: '' }, 'KEYFRONT_METRICS_PORT must be a number from 0 to 65535.'],
    [{ KEYFRONT_METRICS_PORT: '65536' }, 'KEYFRONT_METRICS_PORT must be a number from 0 to 65535.'],
    [{ KEYFRONT_METRICS_PORT: 'on' }, 'KEYFRONT_METRICS_PORT must be a number from 0 to 65535.'],
    [{ KEYFRONT_METRICS_PORT: '4000' }, 'KEYFRONT_METRICS_PORT must be another port than PORT'],
    [{ KEYFRONT_METRICS_HOST: '127.0.0.1' }, 'KEYFRONT_METRICS_HOST requires KEYFRONT_METRICS_PORT.'],
    [{ KEYFRONT_METRICS_PORT: '9464', KEYFRONT_METRICS_HOST: '0.0.0.0' }, 'development listens on loopback only'],
    [{ KEYFRONT_METRIC_PORT: '9464' }, 'did you mean KEYFRONT_METRICS_PORT?'],
  ])('prevent the start if they contradict each other: %o', (env, problem) => {
    expect(() => readConfig(env)).toThrow(problem);
  });
});
