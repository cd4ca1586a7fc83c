import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Where tests last for many seconds: they start processes, browsers and servers, and wait for them. */
const longOnes = [
  'test/faults/workers',
  'test/faults/',
  'test/system/e2e/',
  'test/system/browser/',
  'test/system/parity/',
  'test/system/life/',
];

/**
 * Runs what lasts longest first, so that no worker is left alone with it at the end. Vitest knows by itself only what an
 * earlier run has noted, of which a fresh checkout has none, and takes large files for long ones; ours are often small.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const turn = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId);
      const found = longOnes.findIndex((place) => path.startsWith(place));
      return found < 0 ? longOnes.length : found;
    };
    return sorted.toSorted((a, b) => turn(a) - turn(b));
  }
}
