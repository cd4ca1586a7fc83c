import { describe, expect, it } from 'vitest';
import { createDisk, fates, type Fate } from './disk/disk.js';
import type { DiskOperation } from './disk/recording.js';
import { createRandom } from '../support/generated.js';

const inode = 1n;
const create: DiskOperation = { kind: 'create', inode, name: 'a' };
const write = (text: string, offset = 0): DiskOperation => ({ kind: 'write', inode, offset, bytes: Buffer.from(text) });
const sync: DiskOperation = { kind: 'sync', inode };
const syncFolder: DiskOperation = { kind: 'syncFolder' };

/** Everything that may be found of the file `a` after these steps; `undefined` where it may be missing. */
function found(fate: Fate, ...steps: readonly DiskOperation[]): Set<string | undefined> {
  const images = Array.from({ length: 300 }, (_, seed) => {
    const disk = createDisk();
    for (const step of steps) disk.take(step);
    return disk.image(fate, createRandom(seed).below).get('a')?.toString('latin1');
  });
  return new Set(images);
}

const everyFate = Object.keys(fates) as Fate[];

describe('the simulated disk after a power loss', () => {
  it.each(everyFate)('keeps what was synced, with its name, for every fate of the rest: %s', (fate) => {
    expect(found(fate, create, write('one'), sync, syncFolder)).toEqual(new Set(['one']));
  });

  it('may lose a name that was not synced, though the bytes were', () => {
    expect(found('prefix', create, write('one'), sync)).toEqual(new Set([undefined, 'one']));
    expect(found('dropped', create, write('one'), sync)).toEqual(new Set([undefined]));
  });

  it('may keep a name whose bytes were not synced', () => {
    expect(found('prefix', create, syncFolder, write('one'))).toEqual(new Set(['', 'one']));
  });

  it('drops everything that was not synced', () => {
    expect(found('dropped', create, syncFolder, write('one'), sync, write('TWO'))).toEqual(new Set(['one']));
  });

  it('keeps a prefix of what was written', () => {
    const steps = [create, syncFolder, write('1'), write('2', 1), write('3', 2)];
    expect(found('prefix', ...steps)).toEqual(new Set(['', '1', '12', '123']));
  });

  it('keeps later writes without earlier ones', () => {
    expect(found('subset', create, syncFolder, write('1'), write('2', 1))).toEqual(
      new Set(['', '1', '\0' + '2', '12']),
    );
  });

  it('tears writes at sectors of 512 bytes of the disk', () => {
    const texts = found('torn', create, syncFolder, write('x'.repeat(600)), sync, write('y'.repeat(600)));
    const y = (from: number, to: number) => 'x'.repeat(from) + 'y'.repeat(to - from) + 'x'.repeat(600 - to);
    expect(texts).toEqual(new Set([y(0, 0), y(0, 512), y(512, 600), y(0, 600)]));
  });

  it('drops a file that was unlinked, and keeps one whose unlinking was not synced', () => {
    const unlink: DiskOperation = { kind: 'unlink', name: 'a' };
    expect(found('dropped', create, write('one'), sync, syncFolder, unlink)).toEqual(new Set(['one']));
    expect(found('dropped', create, write('one'), sync, syncFolder, unlink, syncFolder)).toEqual(new Set([undefined]));
  });

  it('truncates and extends files, with zeros for unwritten bytes', () => {
    const steps: DiskOperation[] = [
      create,
      syncFolder,
      write('one'),
      { kind: 'truncate', inode, length: 1 },
      write('!', 3),
      sync,
    ];
    expect(found('dropped', ...steps)).toEqual(new Set(['o\0\0!']));
  });
});
