import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { createDisk } from './disk/disk.js';
import { hasDisk, unlessDisk } from './disk/library.js';
import { readRecording } from './disk/recording.js';
import { buildMain } from '../support/build.mjs';
import type { Entry } from './kit/ledger.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useDisk } from './kit/suite.js';
import { losePower, recordLives, type Recording } from './power.js';

/** Images are opened by the thousand: in memory, where this machine has such a folder. */
function quickFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}

const scenery = useDisk('power');
let quick: string;
beforeAll(async () => {
  quick = await mkdtemp(join(quickFolder(), 'keyfront-power-'));
});
afterAll(async () => rm(quick, { recursive: true }));

/** A new recording, or the one that a failure has kept. */
async function recorded(): Promise<Recording> {
  const file = process.env['POWER_RECORDING'];
  if (file === undefined) return recordLives({ ...scenery(), seed, name: 'lives', lives: 3 });
  const ledger = JSON.parse(await readFile(join(dirname(file), 'ledger.json'), 'utf8')) as Entry[];
  return { steps: readRecording(file), ledger, file };
}

/** Replayed without a loss, a recording gives the very files that the service had left. */
function expectComplete({ steps, rest }: Recording): void {
  if (!rest) return;
  const disk = createDisk();
  for (const step of steps.slice(0, rest.steps)) disk.take(step);
  const replayed = disk.visible();
  expect([...replayed.keys()].toSorted()).toEqual([...rest.files.keys()].toSorted());
  for (const [name, bytes] of rest.files) expect(replayed.get(name)?.equals(bytes), name).toBe(true);
}

describe.skipIf(!hasDisk)(`a power loss at any time (FUZZ_SEED=${seed})${unlessDisk}`, () => {
  it(
    'leaves a data folder that opens, with every acknowledged change and none partly written',
    { timeout: 7_200_000 },
    async () => {
      const recording = await recorded();
      expectComplete(recording);
      const images = sizeOf('POWER_IMAGES');
      const report = await losePower({ ...scenery(), recording, seed, images, parent: quick });
      expectSound(report);
      expect(report.cases).toBe(images);
    },
  );

  itDetects.each([
    ['commits without a disk sync', 'storage/commits-without-sync'],
    ['acknowledges changes before their commit', 'storage/acknowledges-before-commit'],
  ])(
    'D-03 loses changes with a mutant that %s, which this suite detects',
    { timeout: 600_000 },
    async (name, mutantName) => {
      const mutant = await buildMain(mutantName);
      const recording = await recordLives({ ...scenery(), seed, name, lives: 1, mutant });
      const look = () => losePower({ ...scenery(), recording, seed, images: 100, parent: quick, until: 'lost' });
      const { findings } = await look();
      // Images before it may be damaged only.
      expect(findings.map(({ kind }) => kind)).toContain('lost');
      // The seed and the recording bring the very same findings back.
      if (mutantName === 'storage/acknowledges-before-commit') expect((await look()).findings).toEqual(findings);
    },
  );
});
