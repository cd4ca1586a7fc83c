import { describe, expect, it } from 'vitest';
import { shippedVulnerabilities } from '../../../src/build/audit.mjs';

const component = (path: string, version: string) => ({
  'bom-ref': path,
  name: path.replace('node_modules/', ''),
  version,
});
const bill = { components: [component('node_modules/graphql', '17.1.0'), component('node_modules/pg', '8.23.1')] };
const advisory = { title: 'Endless loop', url: 'https://advisories.example/1' };

describe('the audit of what ships', () => {
  it('names the vulnerable packages of the bill of materials, bundled ones and installed ones', () => {
    const vulnerabilities = {
      graphql: { severity: 'high', nodes: ['node_modules/graphql'], via: [advisory] },
      pg: { severity: 'low', nodes: ['node_modules/pg'], via: ['pg-types'] },
    };
    expect(shippedVulnerabilities(bill, { vulnerabilities })).toEqual([
      'high: graphql 17.1.0: Endless loop https://advisories.example/1',
      'low: pg 8.23.1: by pg-types',
    ]);
  });

  it('leaves out development packages, and other copies of a package that ships', () => {
    const vulnerabilities = {
      vitest: { severity: 'critical', nodes: ['node_modules/vitest'], via: [advisory] },
      graphql: { severity: 'high', nodes: ['node_modules/old/node_modules/graphql'], via: [advisory] },
    };
    expect(shippedVulnerabilities(bill, { vulnerabilities })).toEqual([]);
  });
});
