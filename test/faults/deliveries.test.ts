import { describe, expect, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { fileGatewayNames } from '../support/file-gateways.js';
import { itDetects, seed } from '../support/generated.js';
import { describeWith } from '../support/programs.js';
import { killAdapterAtEachCall, killDuringDeliveries } from './deliveries.js';
import { hasDisk, unlessDisk } from './disk/library.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { useDisk } from './kit/suite.js';

const scenery = useDisk('deliveries');

for (const name of fileGatewayNames) {
  describeWith(name, name, `kill -9 of a service, an adapter and ${name} (FUZZ_SEED=${seed})`, () => {
    it('leaves the file whole, and delivers each change', { timeout: 7_200_000 }, async () => {
      const { main } = scenery();
      const report = await killDuringDeliveries({ main, name, seed, kills: sizeOf('DELIVERY_KILLS') });
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(3);
    });
  });
}

describe.skipIf(!hasDisk)(`kill -9 of an adapter at each call to the disk${unlessDisk}`, () => {
  it('leaves the old file or the new one, and the next start writes it', { timeout: 600_000 }, async () => {
    const report = await killAdapterAtEachCall(scenery());
    print(report);
    expect(report.findings).toEqual([]);
    expect(report.cases).toBeGreaterThan(4);
  });

  itDetects('detects a mutant that writes the file in place', { timeout: 600_000 }, async () => {
    const mutant = await buildMain('cli/writes-file-in-place');
    const { findings } = await killAdapterAtEachCall({ ...scenery(), mutant });
    expect(findings.filter(({ kind }) => kind === 'half')).not.toEqual([]);
  });
});
