import type { DiskOperation } from './recording.js';

/** What becomes of that which no sync has made durable when the power goes. */
export const fates = {
  dropped: 'all of it is gone',
  prefix: 'what was written first is there, up to some moment',
  subset: 'some writes are there, and others before them are not',
  torn: 'besides, a write may be there in some of its sectors only',
} as const;

export type Fate = keyof typeof fates;

const sectorBytes = 512;

interface File {
  /** What is on the disk for certain. */
  synced: Buffer;
  pending: Pending[];
}

type Pending = { readonly step: number } & (
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly length: number }
);

/** A number from 0 up to, not including, the limit. */
type Below = (limit: number) => number;

/**
 * A disk with a cache that loses its power. It promises what POSIX does and no more: bytes of a file are durable after a
 * sync of the file, its name after a sync of the folder. Names reach the disk in order, as every journal has it.
 */
export function createDisk() {
  const files = new Map<bigint, File>();
  let names = new Map<string, bigint>();
  let pendingNames: ((names: Map<string, bigint>) => void)[] = [];
  let step = 0;

  const fileOf = (inode: bigint): File => {
    const file = files.get(inode) ?? { synced: Buffer.alloc(0), pending: [] };
    files.set(inode, file);
    return file;
  };
  /** The names as the process sees them, to find what a rename or a link is about. */
  const visibleNames = () => {
    const visible = new Map(names);
    for (const change of pendingNames) change(visible);
    return visible;
  };
  const rename = (change: (names: Map<string, bigint>) => void) => pendingNames.push(change);

  function take(done: DiskOperation): void {
    step += 1;
    switch (done.kind) {
      case 'create':
        // The number of a file that is gone may be given to a new one.
        files.set(done.inode, { synced: Buffer.alloc(0), pending: [] });
        rename((all) => all.set(done.name, done.inode));
        return;
      case 'write':
        fileOf(done.inode).pending.push({ step, kind: 'write', offset: done.offset, bytes: done.bytes });
        return;
      case 'truncate':
        fileOf(done.inode).pending.push({ step, kind: 'truncate', length: done.length });
        return;
      case 'sync': {
        const file = fileOf(done.inode);
        file.synced = applied(file.synced, file.pending);
        file.pending = [];
        return;
      }
      case 'syncFolder':
        names = visibleNames();
        pendingNames = [];
        return;
      case 'rename':
      case 'link': {
        const inode = visibleNames().get(done.from);
        if (inode === undefined) throw new Error(`The recording names ${done.from}, which is not there.`);
        rename((all) => {
          all.set(done.to, inode);
          if (done.kind === 'rename') all.delete(done.from);
        });
        return;
      }
      case 'unlink':
        rename((all) => all.delete(done.name));
        return;
      case 'response':
        return;
    }
  }

  /** What is found when the power is back: the files of the folder by name. */
  function image(fate: Fate, below: Below): Map<string, Buffer> {
    const found = new Map(names);
    const reached = fate === 'dropped' ? 0 : below(pendingNames.length + 1);
    for (const change of pendingNames.slice(0, reached)) change(found);
    const steps = [...files.values()].flatMap(({ pending }) => pending.map((one) => one.step)).sort((a, b) => a - b);
    const moment = steps[below(steps.length + 1)] ?? Infinity;
    const share = 1 + below(9);
    const survives = (one: Pending) => {
      if (fate === 'dropped') return [];
      if (fate === 'prefix') return one.step < moment ? [one] : [];
      if (below(10) >= share) return [];
      return fate === 'torn' ? sectorsOf(one).filter(() => below(10) < 7) : [one];
    };
    return new Map(
      [...found].map(([name, inode]) => {
        const { synced, pending } = fileOf(inode);
        return [name, applied(synced, pending.flatMap(survives))];
      }),
    );
  }

  /** The files as the process itself sees them. */
  function visible(): Map<string, Buffer> {
    return new Map(
      [...visibleNames()].map(([name, inode]) => {
        const { synced, pending } = fileOf(inode);
        return [name, applied(synced, pending)];
      }),
    );
  }

  return { take, image, visible };
}

/** Never changes the bytes it is given: they may be those of other images too. */
function applied(content: Buffer, changes: readonly Pending[]): Buffer {
  if (changes.length === 0) return content;
  const ends = changes.map((change) => (change.kind === 'write' ? change.offset + change.bytes.length : change.length));
  const bytes = Buffer.alloc(Math.max(content.length, ...ends));
  content.copy(bytes);
  let { length } = content;
  for (const change of changes) {
    if (change.kind === 'write') {
      change.bytes.copy(bytes, change.offset);
      length = Math.max(length, change.offset + change.bytes.length);
    } else {
      bytes.fill(0, Math.min(change.length, length), length);
      ({ length } = change);
    }
  }
  return bytes.subarray(0, length);
}

function sectorsOf(change: Pending): Pending[] {
  if (change.kind === 'truncate') return [change];
  const { step, offset, bytes } = change;
  const sectors: Pending[] = [];
  for (let at = 0; at < bytes.length;) {
    // Up to the next multiple of a sector's size on the disk, not within the write.
    const length = Math.min(sectorBytes - ((offset + at) % sectorBytes), bytes.length - at);
    sectors.push({ step, kind: 'write', offset: offset + at, bytes: bytes.subarray(at, at + length) });
    at += length;
  }
  return sectors;
}
