import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The folders of slow tests, which start processes, browsers and servers. */
const longOnes = [
  'test/faults/workers',
  'test/faults/',
  'test/system/e2e/',
  'test/system/browser/',
  'test/system/parity/',
  'test/system/consistency/',
];

/**
 * Runs the slowest files first, so that no worker runs one alone at the end. By default, Vitest uses the durations of earlier
 * runs, of which a fresh checkout has none, and then the sizes of the files, which differ from their durations.
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
