import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unlessDisk } from '../faults/disk/library.js';
import { until } from '../support/until.js';
import { ResponseReader } from './response-reader.mjs';
import { clients, headlineClient } from './clients.mjs';
import { costsWith, measuredFactors } from './capacity-model.mjs';
import { limitsOf, simulate } from './queue-model.mjs';
import { reachedAt } from './slow-disk-report.mjs';
import { createSlowSyncs, hasSlowSyncs } from './slow-syncs.mjs';
import { quantile, ratios, spread } from './statistics.mjs';
import { replacements } from './without/replacements.mjs';

describe('the figures of a benchmark', () => {
  it('are the median of the rounds with their range, in any order', () => {
    expect(spread([30, 10, 20])).toEqual({ median: 20, min: 10, max: 30 });
    expect(spread([40, 10, 20, 30]).median).toBe(25);
    expect(quantile([10, 20, 30, 40, 50], 0.75)).toBe(40);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it('are compared within their round, so that a slow round counts for both', () => {
    expect(ratios([20, 2, 40], [10, 1, 10])).toEqual({ median: 2, min: 2, max: 4 });
    expect(ratios([20], undefined)).toBeUndefined();
  });
});

describe('the capacity model', () => {
  const costs = { process: 1000, group: 600, row: 300, sync: 200, roundTrip: 100 };
  const factors = [
    { processes: 1, keyfront: 1, postgres: 1 },
    { processes: 2, keyfront: 1.1, postgres: 1.2 },
    { processes: 4, keyfront: 1.5, postgres: 2 },
  ];

  it.each([
    [1, 1000, 300, 600],
    [3, 1100, 360, 720],
    [16, 1500, 600, 1200],
  ])('of %d processes uses the costs measured with at most as many', (processes, process, row, group) => {
    expect(costsWith(costs, processes, factors)).toEqual({ ...costs, process, row, group });
  });

  it('is printed in docs/capacity.md with the measured costs', () => {
    const text = readFileSync('docs/capacity.md', 'utf8');
    const numbers = (pattern: RegExp) => (pattern.exec(text) ?? []).slice(1).map(Number);
    const [process = 0, row = 0, group = 0] = numbers(
      /takes (\d+) µs of Keyfront’s processor and (\d+) .*? (\d+) more/,
    );
    const [sync = 0, roundTrip = 0] = numbers(/this disk: ([\d.]+) ms\. To PostgreSQL and back: ([\d.]+) ms/);
    const measured = { process, row, group, sync: sync * 1000, roundTrip: roundTrip * 1000 };
    const rows = [...text.matchAll(/^\| (\d+) +\| (\d+) +\| ([\d.]+) k +\| (\S+) processors/gm)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [, processes = '', processors = '', thousands, owner] of rows) {
      const own = costsWith(measured, Number(processes), measuredFactors());
      const limits = limitsOf(own, { processes: Number(processes), processors: Number(processors) });
      const [[first, most] = ['', 0]] = Object.entries(limits).toSorted(([, one], [, other]) => one - other);
      expect([(most / 1000).toFixed(1), first]).toEqual([thousands, `${owner} processors`]);
    }
  });
});

/** The names of the functions, classes and constants that a module exports. */
function exportedFrom(path: string): string[] {
  const declarations = /^export (?:async )?(?:function|class|const) (\w+)/gm;
  return [...readFileSync(path, 'utf8').matchAll(declarations)].map(([, name = '']) => name);
}

describe('the benchmarks', () => {
  const scripts = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mjs') && !name.includes('node_modules'))
    .map((name) => join('test', name));

  it('import only existing compiled modules', () => {
    const missing = scripts.flatMap((script) =>
      [...readFileSync(script, 'utf8').matchAll(/'((?:\.\.\/)+)build\/([^']+)\.js'/g)]
        .filter(([, , name = '']) => !existsSync(`src/${name}.ts`))
        .map(([specifier]) => `${script}: ${specifier}`),
    );
    expect(missing).toEqual([]);
  });

  it('replace only existing modules and exports', () => {
    const all = Object.values(replacements).flat();
    expect(all.length).toBeGreaterThan(5);
    for (const { module, by } of all) {
      const own = exportedFrom(join('test/bench/without', by));
      const source = exportedFrom(join('src', module.replace(/\.js$/, '.ts')));
      expect(own.length).toBeGreaterThan(0);
      expect([module, own.filter((name) => !source.includes(name))]).toEqual([module, []]);
    }
  });

  it('know the headers of every client, which never contain credentials', () => {
    expect(new Set(clients.map(({ name }) => name)).size).toBe(clients.length);
    for (const { name, headers } of clients) {
      expect([name, headers['Content-Type']]).toEqual([name, 'application/json']);
      expect([name, headers['Accept']]).not.toEqual([name, undefined]);
      expect(Object.keys(headers).join()).not.toMatch(/authorization|cookie/i);
    }
    expect(headlineClient.name).toBe('apollo-client');
  });
});

describe('the response reader of the benchmarks', () => {
  const body = '{"data":{"previewKey":{"keyHash":"ü"}}}';
  const bytes = Buffer.byteLength(body);
  const [one, other] = [Buffer.from(body).subarray(0, 34), Buffer.from(body).subarray(34)];
  const chunked = Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${one.length.toString(16)}\r\n`),
    one,
    Buffer.from(`\r\n${other.length.toString(16).toUpperCase()}\r\n`),
    other,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  const responses: [string, Buffer, boolean][] = [
    ['with a length', Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${body}`), false],
    ['in chunks', chunked, false],
    [
      'that is the last',
      Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length:${bytes}\r\n\r\n${body}`),
      true,
    ],
  ];

  it.each(responses)('reads a response %s split at any byte, and not before its end', (_, response, closes) => {
    for (let at = 1; at < response.length; at += 1) {
      const reader = new ResponseReader();
      expect(reader.push(response.subarray(0, at))).toBeUndefined();
      const read = reader.push(response.subarray(at));
      expect({ ...read, body: read?.body.toString('utf8') }).toEqual({ status: 200, body, closes });
    }
  });

  it('reads one response after another', () => {
    const reader = new ResponseReader();
    const statuses = ['200 OK', '503 Service Unavailable', '200 OK'].map(
      (status) => reader.push(Buffer.from(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\n{}`))?.status,
    );
    expect(statuses).toEqual([200, 503, 200]);
  });
});

describe('the queue model', () => {
  const costs = { process: 1_000, group: 0, row: 1, sync: 0, roundTrip: 0 };
  /** Simulates one process whose CPU time is the only cost, with random arrivals. */
  const completed = (perSecond: number, changes: Partial<typeof costs> = {}) => {
    let state = 7;
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
    const machine = { processes: 1, processors: 4 };
    return simulate({ ...costs, ...changes }, machine, { perSecond, seconds: 20, random });
  };

  it('has the throughput of its slowest part', () => {
    expect(limitsOf(costs, { processes: 4, processors: 1 })['Keyfront’s processors']).toBeCloseTo(4_000);
    expect(completed(500).done).toBeGreaterThan(450);
    expect(completed(500).done).toBeLessThan(550);
    expect(completed(950).done).toBeGreaterThan(850);
    expect(completed(3_000).done).toBeLessThanOrEqual(1_000);
  });

  it('has the waiting times of M/D/1: half a service more at half its load, and longer near its full load', () => {
    const [half, most] = [completed(500), completed(900)];
    expect(half.p50Ms).toBeGreaterThan(1);
    expect(half.p50Ms).toBeLessThan(2);
    expect(most.p50Ms).toBeGreaterThan(2 * half.p50Ms);
  });

  it('shares a disk sync among all waiting requests, so that a slow one delays and does not limit', () => {
    const slow = completed(500, { sync: 20_000 });
    expect(slow.done).toBeGreaterThan(450);
    expect(slow.p50Ms).toBeGreaterThan(20);
  });
});

describe.skipIf(!hasSlowSyncs)(`the slowed disk${unlessDisk}`, () => {
  it('delays each sync in the data folder by the configured time, asleep, and no sync elsewhere', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyfront-slow-syncs-'));
    const disk = createSlowSyncs(folder);
    onTestFinished(() => {
      disk.close();
      rmSync(folder, { recursive: true });
    });
    const data = join(folder, 'data');
    mkdirSync(data);
    const inside = () => disk.measure(data, join(data, 'log'), { count: 3 });
    const elsewhere = () => disk.measure(data, join(folder, 'log'), { count: 3 });

    // A busy disk makes syncs slower and never faster: one that takes less than the delay was not delayed.
    await until(() => inside().us < 200_000, 'A sync without a delay');
    disk.lengthen(200_000);
    const longer = inside();
    expect(longer.us).toBeGreaterThan(200_000);
    expect(longer.cpuUs).toBeLessThan(100_000);
    await until(() => elsewhere().us < 200_000, 'A sync elsewhere without a delay');
  });
});

describe('the sync time at which a ratio is reached', () => {
  const points = (...all: readonly number[]) => all.map((ratio, index) => ({ syncUs: 100 * (index + 1), ratio }));

  it('lies between the two around it, and is the first if all have it', () => {
    expect(reachedAt(points(2, 3, 5, 6), 4)).toBe(250);
    expect(reachedAt(points(4, 5), 4)).toBe(100);
  });

  it('is undefined if the ratio does not last to the end', () => {
    expect(reachedAt(points(2, 5, 3), 4)).toBeUndefined();
    expect(reachedAt(points(2, NaN), 4)).toBeUndefined();
  });
});
