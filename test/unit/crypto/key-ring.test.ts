import {
  chmodSync,
  rmSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { replaceDurableFile } from '../../../src/lib/durable-file.js';
import {
  addKey,
  createKeyRingFile,
  dropInactiveKeys,
  followKeyRing,
  loadKeyRing,
  type KeyRing,
} from '../../../src/crypto/key-ring.js';
import { temporaryFolder } from '../../support/folder.js';

const now = new Date('2030-01-02T03:04:05.000Z');
const key = Buffer.alloc(32, 7).toString('base64');
const created = now.toISOString();

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, 'keys.json');
});

const modeOf = (file: string) => statSync(file).mode & 0o777;
const bytesOf = (ring: KeyRing, id: string) => ring.keyOf(id).export().toString('base64');
const put = (content: unknown) =>
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    // Inspecting takes in causes and extra members, which would reach a log as well.
    return inspect(error, { showHidden: true, depth: 9 });
  }
  throw new Error('It did not throw.');
}

describe('followKeyRing', () => {
  const nextCheck = () => Promise.resolve();
  const whole = () => readFileSync(path, 'utf8');

  it.each<[string, () => void]>([
    ['is empty', () => put('')],
    ['is incomplete', () => put(whole().slice(0, -20))],
    ['has no key', () => put({ keys: [] })],
    ['is open to other users', () => chmodSync(path, 0o644)],
    ['is gone', () => rmSync(path)],
  ])('keeps the ring while the file %s, reports it each minute, and follows the file again', async (_what, spoil) => {
    createKeyRingFile(path, now);
    const text = whole();
    const lines: string[] = [];
    let nowMs = 0;
    const ring = followKeyRing(
      path,
      (line) => void lines.push(line),
      () => nowMs,
    );
    const before = ring();
    spoil();
    for (nowMs = 1; nowMs <= 100_000; nowMs += 10_000) {
      await nextCheck();
      expect(ring()).toBe(before);
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(path);
    expect(lines.join()).not.toContain(bytesOf(before, 'k1').slice(0, 8));

    put(text);
    chmodSync(path, 0o600);
    addKey(path, now);
    await nextCheck();
    expect(ring().ids).toEqual(['k1', 'k2']);
    expect(lines.slice(2)).toEqual([`The key ring ${path} was read and is now in use.`]);
    await nextCheck();
    ring();
    expect(lines).toHaveLength(3);
  });

  it('follows a file whose mode is corrected without a change of its content', async () => {
    createKeyRingFile(path, now);
    const ring = followKeyRing(path);
    addKey(path, now);
    chmodSync(path, 0o644);
    await nextCheck();
    expect(ring().ids).toEqual(['k1']);
    chmodSync(path, 0o600);
    await nextCheck();
    expect(ring().ids).toEqual(['k1', 'k2']);
  });
});

describe('createKeyRingFile', () => {
  it('writes one key in the documented form, accessible to the owner only', () => {
    const ring = createKeyRingFile(path, now);
    expect(ring).toMatchObject({ primaryID: 'k1', ids: ['k1'] });
    expect(modeOf(path)).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ keys: [{ id: 'k1', created, key: bytesOf(ring, 'k1') }] });
    expect(ring.keyOf('k1').symmetricKeySize).toBe(32);
    expect(readdirSync(folder)).toEqual(['keys.json']);
  });

  it('does not change a file that exists', () => {
    put('precious');
    expect(() => createKeyRingFile(path, now)).toThrow(`${path} exists already`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
    expect(readdirSync(folder)).toEqual(['keys.json']);
  });

  it('creates a different key each time', () => {
    const other = createKeyRingFile(join(folder, 'other.json'), now);
    expect(bytesOf(other, 'k1')).not.toBe(bytesOf(createKeyRingFile(path, now), 'k1'));
  });

  it('names the path when the folder is missing', () => {
    expect(() => createKeyRingFile(join(folder, 'no', 'keys.json'), now)).toThrow(/no\/keys\.json.*ENOENT/);
  });
});

describe('rotation of the key ring', () => {
  it('adds a primary key and keeps the older ones unchanged', () => {
    const first = createKeyRingFile(path, now);
    const second = addKey(path, now);
    expect(second).toMatchObject({ primaryID: 'k2', ids: ['k1', 'k2'] });
    expect(bytesOf(second, 'k1')).toBe(bytesOf(first, 'k1'));
    expect(bytesOf(second, 'k2')).not.toBe(bytesOf(first, 'k1'));
    expect(bytesOf(loadKeyRing(path), 'k2')).toBe(bytesOf(second, 'k2'));
    expect(modeOf(path)).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['keys.json']);
  });

  it('removes every key but the primary one and never reuses an ID', () => {
    createKeyRingFile(path, now);
    const second = addKey(path, now);
    const kept = dropInactiveKeys(path);
    expect(kept.ids).toEqual(['k2']);
    expect(bytesOf(kept, 'k2')).toBe(bytesOf(second, 'k2'));
    expect(() => kept.keyOf('k1')).toThrow('no key with the id "k1"');
    expect(modeOf(path)).toBe(0o600);
    expect(addKey(path, now).ids).toEqual(['k2', 'k3']);
  });

  it('generates a new ID beside IDs that were written by hand', () => {
    put({ keys: ['k9', 'mine', 'k999999999999999'].map((id) => ({ id, created, key })) });
    expect(addKey(path, now).primaryID).toBe('k10');
  });

  it('replaces the target of a symbolic link and keeps the link', () => {
    createKeyRingFile(path, now);
    const link = join(folder, 'link.json');
    symlinkSync(path, link);
    addKey(link, now);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(loadKeyRing(path).ids).toEqual(['k1', 'k2']);
  });

  it('fails while another change is in progress, and loses no key', () => {
    createKeyRingFile(path, now);
    const before = readFileSync(path, 'utf8');
    writeFileSync(`${path}.new`, '');
    expect(() => addKey(path, now)).toThrow(/is being changed, or a change of it was interrupted/);
    expect(() => dropInactiveKeys(path)).toThrow(path);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(existsSync(`${path}.new`)).toBe(true);
  });

  it('rejects a file that is not a key ring', () => {
    expect(() => addKey(path, now)).toThrow(`${path} does not exist`);
    put('{}');
    expect(() => dropInactiveKeys(path)).toThrow('malformed');
    expect(readFileSync(path, 'utf8')).toBe('{}');
  });
});

describe('an interrupted write of the key ring', () => {
  it('keeps the old ring until it is replaced', () => {
    createKeyRingFile(path, now);
    const before = readFileSync(path, 'utf8');
    replaceDurableFile(path, () => {
      // This is what a crash here would leave behind: the old ring, and a draft that nothing reads.
      expect(readFileSync(path, 'utf8')).toBe(before);
      expect(modeOf(`${path}.new`)).toBe(0o600);
      return 'new';
    });
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  it('keeps the old ring and no draft when writing fails', () => {
    createKeyRingFile(path, now);
    const before = readFileSync(path, 'utf8');
    const failing = () => {
      throw new Error('disk on fire');
    };
    expect(() => replaceDurableFile(path, failing)).toThrow('disk on fire');
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(folder)).toEqual(['keys.json']);
  });

  it('replaces the file by a new one, so that no reader sees part of it', () => {
    createKeyRingFile(path, now);
    const before = statSync(path).ino;
    addKey(path, now);
    expect(statSync(path).ino).not.toBe(before);
  });
});

describe('loadKeyRing', () => {
  it('takes the last key as the primary one', () => {
    put({ keys: ['b', 'a'].map((id) => ({ id, created, key })) });
    expect(loadKeyRing(path)).toMatchObject({ primaryID: 'a', ids: ['b', 'a'] });
  });

  it('reads a ring that the owner cannot write', () => {
    createKeyRingFile(path, now);
    chmodSync(path, 0o400);
    expect(loadKeyRing(path).ids).toEqual(['k1']);
  });

  it('reports a missing file', () => {
    expect(() => loadKeyRing(path)).toThrow(`${path} does not exist`);
  });

  it('reports a file that cannot be read', () => {
    mkdirSync(path, { mode: 0o700 });
    expect(() => loadKeyRing(path)).toThrow(`${path} cannot be read: it is a folder; name a file (EISDIR)`);
  });

  it.each(['640', '604', '620', '601'])('S-08 rejects mode %s and names the command to run', (mode) => {
    createKeyRingFile(path, now);
    chmodSync(path, Number.parseInt(mode, 8));
    expect(() => loadKeyRing(path)).toThrow(`chmod 600 ${path}`);
  });

  const item = { id: 'a', created, key };
  it.each([
    ['no JSON', `{"keys":[{"key":"${key}" oops`],
    ['nothing', ''],
    ['no object', [item]],
    ['null', 'null'],
    ['no list', { keys: item }],
    ['no keys', { keys: [] }],
    ['an entry that is no object', { keys: [key] }],
    ['no id', { keys: [{ ...item, id: undefined }] }],
    ['an id with other characters', { keys: [{ ...item, id: 'a b' }] }],
    ['an id that is too long', { keys: [{ ...item, id: 'a'.repeat(65) }] }],
    ['the same id twice', { keys: [item, { ...item }] }],
    ['no date', { keys: [{ ...item, created: 'yesterday' }] }],
    ['a key that is too short', { keys: [{ ...item, key: Buffer.alloc(31, 7).toString('base64') }] }],
    ['a key that is too long', { keys: [{ ...item, key: Buffer.alloc(33, 7).toString('base64') }] }],
    ['a key that is no base64', { keys: [{ ...item, key: `*${key}` }] }],
  ])('rejects a file with %s, naming the path and not the content', (_, content) => {
    put(content);
    const message = messageOf(() => loadKeyRing(path));
    expect(message).toContain(`The key ring ${path} is malformed`);
    expect(message).not.toContain('BwcHBw');
    expect(message).not.toContain('oops');
  });
});

it('S-11 shows no key when a ring is inspected, serialized or printed', () => {
  put({ keys: [{ id: 'k1', created, key }] });
  const ring = loadKeyRing(path);
  const shown = [inspect(ring, { showHidden: true, depth: 9 }), JSON.stringify(ring), String(ring), inspect({ ring })];
  expect(shown[0]).toContain('k1');
  expect(JSON.parse(JSON.stringify(ring))).toEqual({ primaryID: 'k1', ids: ['k1'] });
  for (const text of [...shown, inspect(ring.keyOf('k1'), { showHidden: true, depth: 9 })]) {
    expect(text).not.toContain('BwcHBw');
    expect(text.replace(/\s/g, '')).not.toMatch(/(07){4}|(7,){4}/);
  }
});
