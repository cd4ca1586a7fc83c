import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The folders of slow tests, which start processes, browsers and servers. */
const slowFolders = [
  'test/faults/workers',
  'test/faults/',
  'test/system/e2e/',
  'test/system/browser/',
  'test/system/parity/',
  'test/system/consistency/',
];

/**
 * Runs the slowest files first, so that no worker runs a slow file alone at the end. By default, Vitest sorts by the
 * durations of earlier runs, which a fresh checkout does not have, and then by size, which does not predict them.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const priorityOf = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId);
      const found = slowFolders.findIndex((folder) => path.startsWith(folder));
      return found < 0 ? slowFolders.length : found;
    };
    return sorted.toSorted((a, b) => priorityOf(a) - priorityOf(b));
  }
}
