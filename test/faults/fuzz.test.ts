import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itDetects, runs, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { fuzz, startService, type StoreMutant, type Service } from './fuzz.js';
import type { RawResponse } from './raw-connection.js';

/* FUZZ_RUNS=100000 is the full run, some minutes long; FUZZ_SEED brings a run back. */

let service: Service;

beforeAll(async () => {
  service = await startService(await buildMain());
}, 120_000);

afterAll(() => service.stop());

/** Replaces parts of the response to input 7. */
const seventh = (changes: Partial<RawResponse>): StoreMutant => ({
  response: (response, number) => (number === 7 ? { ...response, ...changes } : response),
});

describe(`the service under generated requests (FUZZ_SEED=${seed})`, () => {
  it(
    'responds within a second and below 500, shows no secret, and changes nothing when it rejects',
    { timeout: 3_600_000 },
    async () => {
      const inputs = runs('FUZZ_RUNS', 2000);
      const report = await fuzz(service, seed, inputs);
      console.log(`fuzz: ${JSON.stringify({ ...report, findings: report.findings.length })}`);
      expect(report.findings).toEqual([]);
      // A run in which nothing is accepted, or nothing rejected, would prove little.
      expect(report.updatesAccepted).toBeGreaterThan(inputs / 100);
      expect(report.byStatus['400']).toBeGreaterThan(inputs / 10);
    },
  );

  itDetects.each<[string, StoreMutant, RegExp]>([
    ['a status of 500', seventh({ status: 500 }), /input 7 .*status 500/],
    [
      'an internal error in GraphQL',
      seventh({ text: '{"errors":[{"extensions":{"code":"INTERNAL"}}]}' }),
      /input 7 .*internal error/,
    ],
    ['a response after a second', seventh({ milliseconds: 1001 }), /input 7 .*after 1001 ms, each time/],
    [
      'a response that is no JSON',
      seventh({ headers: new Map([['content-type', 'application/json']]), text: '{' }),
      /no JSON/,
    ],
    [
      'a credential in a response',
      {
        response: (response, number) =>
          number === 7 ? { ...response, text: `${response.text} ${service.service}` } : response,
      },
      /the service in the response/,
    ],
    ['a password in a log', { log: ({ password }) => `{"msg":"${password}"}` }, /password in the log/],
    [
      'a change without a request',
      {
        beforeCheck: ({ database }) =>
          void database.exec(
            'UPDATE keys SET version = version + 1, mac = randomblob(32) WHERE id = (SELECT min(id) FROM keys)',
          ),
      },
      /versions went up by/,
    ],
    [
      'a key that no request created',
      {
        beforeCheck: ({ database }) =>
          void database.exec(
            `CREATE TEMP TABLE planted AS SELECT * FROM keys LIMIT 1;
             ALTER TABLE planted DROP COLUMN creation;
             UPDATE planted SET id = 1, key_hash = x'00', version = 0;
             INSERT OR IGNORE INTO keys SELECT * FROM planted;
             DROP TABLE planted`,
          ),
      },
      /there are 4 keys, and there were 3/,
    ],
    [
      'an update that is acknowledged and lost',
      { response: (response) => (response.status === 400 ? { ...response, status: 200, text: '{}' } : response) },
      /accepted has changed nothing/,
    ],
    [
      'a rejection that writes',
      { response: (response) => (response.status === 200 ? { ...response, status: 400, text: '{}' } : response) },
      /rejected has changed a key/,
    ],
  ])('detects a mutant: %s', { timeout: 120_000 }, async (_, mutant, finding) => {
    const { findings } = await fuzz(service, 1, 200, mutant);
    expect(findings.join('\n')).toMatch(finding);
  });
});
