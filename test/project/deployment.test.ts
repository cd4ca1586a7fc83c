import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config/config.js';
import { nodeOptions } from '../../src/config/node-options.js';
import { blocksOf } from '../support/documents.js';

const operating = readFileSync(new URL('../../OPERATING.md', import.meta.url), 'utf8');
const image = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
const blocks = blocksOf(operating);

/** The blocks of OPERATING.md in a language that contain a text. */
const blocksWith = (language: string, part: string) =>
  blocks.filter((block) => block.language === language && block.text.includes(part)).map(({ text }) => text);

function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS() as unknown;
  });
}

/** The variables that the image sets. */
const imageVariables = Object.fromEntries(
  [...(/^ENV (.+)$/m.exec(image)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value]) => [name, value]),
);
const [, metricsTable = ''] = /<!-- metrics -->\n(.*?)<!-- \/metrics -->/s.exec(operating) ?? [];
const metrics = [...metricsTable.matchAll(/^\| ([a-z]\w+) \|/gm)].map(([, name]) => name);

/** The metrics that a PromQL expression reads. */
const metricsOf = (expression: string) =>
  [...expression.matchAll(/\b(?:keyfront|process|nodejs)_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );

it('parses every block of YAML', () => {
  for (const { text } of blocks.filter(({ language }) => language === 'yaml')) documentsOf(text);
});

it('starts the service in the systemd unit with the options of Node and valid settings', () => {
  const [unit = ''] = blocksWith('ini', '[Service]');
  const [, variables = ''] = /^Environment=(.+)$/m.exec(unit) ?? [];
  const env = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=') as [string, string]));
  expect(() => readConfig(env)).not.toThrow();
  expect(env['KEYFRONT_DATA']).toMatch(/^\/var\/lib\/keyfront\//);
  expect(/^ExecStart=\S+ (.+)$/m.exec(unit)?.[1]).toBe(`${nodeOptions.join(' ')} dist/main.js serve`);
});

it('sets valid settings and the data folder of the image in the compose file', () => {
  const [text = ''] = blocksWith('yaml', 'services:');
  const [{ services }] = documentsOf(text) as [{ services: { keyfront: Record<string, unknown> } }];
  const { environment, volumes, ports } = services.keyfront as Record<'volumes' | 'ports', string[]> & {
    environment: Record<string, string>;
  };
  expect(() => readConfig({ ...imageVariables, ...environment })).not.toThrow();
  expect(volumes).toEqual([`keyfront-data:${imageVariables['KEYFRONT_DATA']}`]);
  expect(ports).toEqual(['127.0.0.1:4000:4000']);
});

describe('the Kubernetes manifests', () => {
  const [text = ''] = blocksWith('yaml', 'kind: StatefulSet');
  interface Container {
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly livenessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
    readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }
  interface PodSpec {
    readonly enableServiceLinks: boolean;
    readonly securityContext: { readonly runAsUser: number };
    readonly containers: readonly [Container];
  }
  const [set, service] = documentsOf(text) as [
    { spec: { selector: { matchLabels: object }; template: { metadata: { labels: object }; spec: PodSpec } } },
    { spec: { selector: object; ports: readonly { port: number; targetPort: string }[] } },
  ];
  const pod = set.spec.template.spec;
  const [container] = pod.containers;
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));

  it('have valid settings, with a data folder below the volume', () => {
    const { config } = readConfig({ ...imageVariables, ...env });
    expect(config.port).toBe(container.ports.find(({ name }) => name === 'http')?.containerPort);
    expect(env['KEYFRONT_METRICS_PORT']).toBe(
      String(container.ports.find(({ name }) => name === 'metrics')?.containerPort),
    );
    expect(env['KEYFRONT_DATA']).toMatch(new RegExp(`^${container.volumeMounts[0]?.mountPath}/\\w`));
    expect(pod.enableServiceLinks).toBe(false);
    expect(pod.securityContext.runAsUser).toBe(1000);
  });

  it('probe liveness and readiness, and select the pods of the set', () => {
    expect(container.livenessProbe.httpGet).toEqual({ path: '/health', port: 'http' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'http' });
    expect(set.spec.template.metadata.labels).toEqual(set.spec.selector.matchLabels);
    expect(service.spec.selector).toEqual(set.spec.selector.matchLabels);
    expect(service.spec.ports).toMatchObject([{ port: 4000, targetPort: 'http' }]);
  });
});

it('reads only documented metrics in the alerts, and repeats the conditions of the table', () => {
  const [text = ''] = blocksWith('yaml', 'alert: KeyfrontNotReady');
  const [{ groups }] = documentsOf(text) as [{ groups: { rules: { alert: string; expr: string }[] }[] }];
  const rules = groups.flatMap((group) => group.rules);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  const conditions = metricsTable.replaceAll('\\|', '|');
  for (const { expr } of rules) {
    expect(metricsOf(expr).filter((name) => !metrics.includes(name))).toEqual([]);
    for (const part of expr.split(' or ').filter((one) => !one.startsWith('up{'))) {
      expect(conditions).toContain(`\`${part}\``);
    }
  }
});

it('reads only documented metrics in the dashboard', () => {
  const [text = ''] = blocksWith('json', '"panels"');
  const { panels } = JSON.parse(text) as { panels: { id: number; targets: { expr: string }[] }[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const read = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsOf(expr)));
  expect(read.length).toBeGreaterThanOrEqual(panels.length);
  expect(read.filter((name) => !metrics.includes(name))).toEqual([]);
});
