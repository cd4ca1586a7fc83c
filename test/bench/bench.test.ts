import { describe, expect, it } from 'vitest';
import { AnswerReader } from './answer-reader.mjs';
import { quantile, ratios, spread } from './statistics.mjs';

describe('the figures of a benchmark', () => {
  it('are the middle of the rounds with their range, whatever order they come in', () => {
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

describe('the reader of answers', () => {
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
  const answers: [string, Buffer, boolean][] = [
    ['with a length', Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${body}`), false],
    ['in chunks', chunked, false],
    [
      'that is the last',
      Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length:${bytes}\r\n\r\n${body}`),
      true,
    ],
  ];

  it.each(answers)('reads an answer %s wherever it is broken in two, and not before its end', (_, answer, closes) => {
    for (let at = 1; at < answer.length; at += 1) {
      const reader = new AnswerReader();
      expect(reader.push(answer.subarray(0, at))).toBeUndefined();
      const read = reader.push(answer.subarray(at));
      expect({ ...read, body: read?.body.toString('utf8') }).toEqual({ status: 200, body, closes });
    }
  });

  it('reads one answer after another', () => {
    const reader = new AnswerReader();
    const statuses = ['200 OK', '503 Service Unavailable', '200 OK'].map(
      (status) => reader.push(Buffer.from(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\n{}`))?.status,
    );
    expect(statuses).toEqual([200, 503, 200]);
  });
});
