// Whether the duration of a rejection depends on the credential. Measured in the process, without the noise of a
// network, and in turns, so that other load affects all groups alike:
// npm run build && node test/bench/timing-of-rejections.mjs [count]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { argv, stdout } from 'node:process';
import { Writable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { createApp } from '../../build/app.js';
import { issueCredential } from '../../build/credentials/issue.js';
import { createToken, isTokenShaped } from '../../build/credentials/token.js';
import { readConfig } from '../../build/config/config.js';
import { createLogger } from '../../build/lib/log.js';
import { quantile } from './statistics.mjs';

const count = Number(argv[2] ?? 10_000);
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const write = (/** @type {string} */ line) => stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'keyfront-timing-'));
const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
const { config, secrets } = readConfig({ KEYFRONT_DATA: folder, KEYFRONT_CONSOLE: 'off' });
const app = await createApp(config, secrets, createLogger('info', discard));
const { credentials } = app.services;
const issue = (/** @type {'management' | 'service'} */ kind, /** @type {Date | undefined} */ expires = undefined) =>
  issueCredential(credentials, { kind, label: 'timing', expires }, new Date());

const valid = await issue('management');
const other = await issue('service');
const revoked = await issue('management');
await credentials.revoke(revoked.credential.id, new Date());
const expired = await issue('management', new Date(0));

/** Returns a token with the beginning of the valid token and a valid checksum, without which it is rejected early. */
function tokenWithPrefix(/** @type {number} */ characters) {
  const body = valid.secret.slice(0, 7 + characters) + createToken('management').slice(7 + characters, 39);
  let rest = crc32(body);
  let checksum = '';
  for (let position = 0; position < 6; position += 1) {
    checksum = alphabet.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  if (!isTokenShaped(body + checksum)) throw new Error('The token of the measurement is none.');
  // One in 62 tokens that differ in the last character only would be valid.
  return body + checksum === valid.secret ? tokenWithPrefix(characters) : body + checksum;
}

/** Functions that create the token of an attempt. @type {Record<string, () => string>} */
const groups = {
  unknown: () => createToken('management'),
  'unknown, once more': () => createToken('management'),
  revoked: () => revoked.secret,
  expired: () => expired.secret,
  'wrong kind': () => other.secret,
  ...Object.fromEntries(
    [0, 8, 16, 24, 31].map((right) => [`${right} of 32 characters right`, () => tokenWithPrefix(right)]),
  ),
};

/** Measures the duration of a rejection in milliseconds. */
async function rejection(/** @type {string} */ token) {
  const request = new globalThis.Request('http://keyfront.test/api/keys/preview', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  const began = performance.now();
  const { status } = await app.fetch(request);
  const took = performance.now() - began;
  if (status !== 401) throw new Error(`The response to a wrong credential is ${status}.`);
  return took;
}

/** @type {Map<string, number[]>} */
const times = new Map(Object.keys(groups).map((name) => [name, []]));
for (let round = -500; round < count; round += 1) {
  const order = Object.entries(groups)
    // Created before any is sent, as flat strings, so that their creation is not measured.
    .map(([name, make]) => ({ name, token: Buffer.from(make()).toString(), at: Math.random() }))
    .sort((a, b) => a.at - b.at);
  for (const { name, token } of order) {
    const took = await rejection(token);
    // The first rounds are a warm-up.
    if (round >= 0) times.get(name)?.push(took);
  }
}

/** Returns the two-sided p-value of the Mann-Whitney U test. */
function mannWhitney(/** @type {number[]} */ a, /** @type {number[]} */ b) {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))];
  all.sort((x, y) => x.value - y.value);
  let rankSum = 0;
  for (let from = 0; from < all.length;) {
    let to = from;
    while (to < all.length && all[to]?.value === all[from]?.value) to += 1;
    const rank = (from + 1 + to) / 2;
    for (let index = from; index < to; index += 1) if (all[index]?.isA) rankSum += rank;
    from = to;
  }
  const u = rankSum - (a.length * (a.length + 1)) / 2;
  const deviation = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12);
  return twoSided(Math.abs(u - (a.length * b.length) / 2) / deviation);
}

/** Returns the two-sided tail probability of a normal distribution (Abramowitz and Stegun 7.1.26). */
function twoSided(/** @type {number} */ z) {
  const t = 1 / (1 + (0.3275911 * z) / Math.SQRT2);
  const factors = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  return factors.reduce((sum, factor) => (sum + factor) * t, 0) * Math.exp((-z * z) / 2);
}

const reference = times.get('unknown') ?? [];
write(`${count} refusals each, in microseconds; p: Mann-Whitney against "unknown"`);
for (const [name, sample] of times) {
  const p = name === 'unknown' ? '' : `  p ${mannWhitney(sample, reference).toFixed(4)}`;
  write(`${name.padEnd(28)} median ${(quantile(sample, 0.5) * 1000).toFixed(1)}${p}`);
}

await app.close();
rmSync(folder, { recursive: true });
