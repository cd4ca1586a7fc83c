import { describe, expect, it } from 'vitest';
import { metricLabels } from '../../../src/cli/serve/telemetry.js';
import { createMetrics } from '../../../src/telemetry/metrics.js';
import { documents, sectionOf, textOf } from '../../support/documents.js';

const rows = sectionOf('metrics')
  .trim()
  .split('\n')
  .slice(2)
  .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, name = '', labels = '', states = '', alert = '']) => ({ name, labels, states, alert }));

describe('the table of metrics', () => {
  const { registry } = createMetrics(metricLabels());

  it('has a row for each of our metrics, with its labels and its meaning, and no other', async () => {
    const metrics = await registry.getMetricsAsJSON();
    const ours = metrics
      .filter(({ name }) => name.startsWith('keyfront_'))
      .map(({ name, help }) => {
        const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: readonly string[] };
        return { name, labels: labelNames.join(', '), states: help };
      });
    const listed = rows.filter(({ name }) => name.startsWith('keyfront_'));
    expect(listed.map(({ name, labels, states }) => ({ name, labels, states })).toSorted(byName)).toEqual(
      ours.toSorted(byName),
    );
    expect(ours.length).toBeGreaterThan(10);
  });

  it('and the rest of its document name only existing metrics', () => {
    const [text = ''] = documents.map(textOf).filter((document) => document.includes('<!-- metrics -->'));
    const mentioned = [...text.matchAll(/\b(?:keyfront|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);
    const known = new Set(registry.getMetricsAsArray().map(({ name }) => name));
    const strays = mentioned.filter((name) => !known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, '')));
    expect(strays).toEqual([]);
    expect(rows.filter(({ alert }) => alert === '')).toEqual([]);
  });
});

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}
