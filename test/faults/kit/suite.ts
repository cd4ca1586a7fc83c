import { afterAll, beforeAll, expect } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { compileDisk, hasDisk } from '../disk/library.js';
import { print, type Report } from './report.js';
import { makeWorkspace, type Workspace } from './workspace.js';

interface Scenery {
  readonly main: string;
  readonly workspace: Workspace;
}

/** Makes the build and a workspace before the tests of a file. Returns them to its tests. */
export function useWorkspace(name: string): () => Scenery {
  let made: Scenery | undefined;
  beforeAll(async () => {
    const [main, workspace] = await Promise.all([buildMain(), makeWorkspace(name)]);
    made = { main, workspace };
  }, 120_000);
  afterAll(async () => made?.workspace.remove());
  return () => {
    if (!made) throw new Error('The workspace could not be made.');
    return made;
  };
}

/** The same with the library that is loaded into processes whose disk fails or is recorded, if this machine can. */
export function useDisk(name: string): () => Scenery & { readonly library: string } {
  const scenery = useWorkspace(name);
  let library = '';
  beforeAll(() => {
    if (hasDisk) library = compileDisk(scenery().workspace.folder);
  });
  return () => ({ ...scenery(), library });
}

/** Prints the report of a run that must have no findings. A run in which little was written would show little. */
export function expectSound(report: Report, minAcknowledged = 0): void {
  print(report);
  expect(report.findings).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(minAcknowledged);
}
