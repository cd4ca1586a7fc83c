import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { accessCodes, type AccessCode } from '../keys/access/decide-access.js';
import { quotaRejections } from '../keys/quota/quota.js';
import { keyDeliveryOutcomes, requestRejectionReasons, webhookOutcomes, type Meter, type GaugeName } from './ports.js';

/** The metrics of one process: its hooks, and the registry that is scraped. */
export interface Metrics {
  readonly meter: Meter;
  readonly registry: Registry;
}

interface MetricsOptions {
  readonly version: string;
  /** Every name that may label an operation: the root fields of the schema and the operations of REST. */
  readonly operations: ReadonlySet<string>;
  /** The names of clients that have a label. Other names are `other`; a request without a name has `none`. */
  readonly clients?: readonly string[] | undefined;
  readonly credentialKinds: readonly string[];
  /** Reasons of rejected credentials that have a label. Other reasons, the error codes of a library, are `other`. */
  readonly rejectionReasons: readonly string[];
}

const fast = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const batches = [1, 2, 4, 8, 16, 32, 64, 128];

const verdicts: ReadonlySet<string> = new Set(['allowed', ...Object.keys(quotaRejections)]);

/**
 * Creates the metrics of one process for Prometheus. Labels are from fixed lists, so that no client can add a series or
 * see values of another client. The aggregators determine how several processes are combined.
 */
export function createMetrics({
  version,
  operations,
  clients = [],
  credentialKinds,
  rejectionReasons,
}: MetricsOptions): Metrics {
  const reasons: ReadonlySet<string> = new Set(rejectionReasons);
  const kinds: ReadonlySet<string> = new Set(credentialKinds);
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'keyfront_requests_total',
    help: 'Completed requests.',
    labelNames: ['face', 'operation', 'verdict'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'keyfront_request_duration_seconds',
    help: 'Time from the arrival of a request to its response, including queue time.',
    labelNames: ['face', 'operation'] as const,
    buckets: fast,
    registers,
  });
  const clientRequests = new Counter({
    name: 'keyfront_client_requests_total',
    help: 'Completed requests of each client in KEYFRONT_CLIENT_NAMES.',
    labelNames: ['client', 'operation'] as const,
    registers,
  });
  const usage = createFieldUsage();
  new Counter({
    name: 'keyfront_field_usage_total',
    help: 'Valid GraphQL requests of each client, with a credential, that use a field, argument or input field.',
    labelNames: ['client', 'field'] as const,
    registers,
    collect() {
      usage.takeCounts((client, field, count) => this.inc({ client, field }, count));
    },
  });
  const clientNames: ReadonlySet<string> = new Set(clients);
  const rejected = new Counter({
    name: 'keyfront_refused_total',
    help: 'Requests rejected before execution.',
    labelNames: ['reason'] as const,
    registers,
  });
  const wrongCredentials = new Counter({
    name: 'keyfront_authentication_failures_total',
    help: 'Invalid credentials that an operation needed, or that look like one of Keyfront.',
    labelNames: ['kind', 'reason'] as const,
    registers,
  });
  const quotas = new Counter({
    name: 'keyfront_quota_verdicts_total',
    help: 'Outcomes of quota consumption.',
    labelNames: ['verdict'] as const,
    registers,
  });
  const verifications = new Counter({
    name: 'keyfront_verifications_total',
    help: 'Decisions about requests with keys, for gateways.',
    labelNames: ['code'] as const,
    registers,
  });
  const deliveries = new Counter({
    name: 'keyfront_keys_delivered_total',
    help: 'Keys that were read with their secrets, and those that could not be read.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const webhooks = new Counter({
    name: 'keyfront_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook, and events that became dead letters (dead).',
    labelNames: ['outcome'] as const,
    registers,
  });
  const batchSizes = new Histogram({
    name: 'keyfront_commit_batch_size',
    help: 'Changes in one group commit.',
    buckets: batches,
    registers,
  });
  const commits = new Histogram({
    name: 'keyfront_commit_duration_seconds',
    help: 'Duration of a group commit, from its begin to the end of the disk sync.',
    buckets: fast,
    registers,
  });
  const failures = new Counter({
    name: 'keyfront_commit_failures_total',
    help: 'Group commits that storage rejected, whole or in part.',
    registers,
  });
  new Gauge({
    name: 'keyfront_build_info',
    help: 'Always 1; the label is the version of the service.',
    labelNames: ['version'] as const,
    registers,
    aggregator: 'first',
  }).set({ version }, 1);
  new Gauge({
    name: 'keyfront_workers',
    help: 'Processes that serve requests: workers that responded, or 1 without workers.',
    registers,
    aggregator: 'sum',
  }).set(1);
  // Series start at 0: rate() would ignore the first event of a series that starts with it.
  for (const reason of requestRejectionReasons) rejected.inc({ reason }, 0);
  for (const outcome of webhookOutcomes) webhooks.inc({ outcome }, 0);
  for (const outcome of keyDeliveryOutcomes) deliveries.inc({ outcome }, 0);
  for (const verdict of verdicts) quotas.inc({ verdict }, 0);
  for (const code of Object.keys(accessCodes) as AccessCode[]) verifications.inc({ code }, 0);

  const sources = new Map<GaugeName, () => number | Promise<number>>();
  const readGauge = async (name: GaugeName, fallback = 0) => (await sources.get(name)?.()) ?? fallback;
  new Gauge({
    name: 'keyfront_queue_length',
    help: 'Entries in a queue.',
    labelNames: ['queue'] as const,
    registers,
    aggregator: 'sum',
    async collect() {
      this.set({ queue: 'requests' }, await readGauge('requests_waiting'));
      this.set({ queue: 'passwords' }, await readGauge('passwords_waiting'));
      this.set({ queue: 'commits' }, await readGauge('commits_waiting'));
      this.set({ queue: 'uses' }, await readGauge('uses_waiting'));
    },
  });
  new Gauge({
    name: 'keyfront_wal_bytes',
    help: 'Bytes of the SQLite write-ahead log that are in use.',
    registers,
    aggregator: 'max',
    async collect() {
      this.set(await readGauge('wal_bytes'));
    },
  });
  new Gauge({
    name: 'keyfront_streams',
    help: 'Open subscriptions.',
    registers,
    aggregator: 'sum',
    async collect() {
      this.set(await readGauge('streams'));
    },
  });
  new Gauge({
    name: 'keyfront_redis_up',
    help: '1 if Redis is connected or not used, otherwise 0.',
    registers,
    aggregator: 'min',
    async collect() {
      this.set(await readGauge('redis_up', 1));
    },
  });
  new Gauge({
    name: 'keyfront_quota_resets_pending',
    help: 'Changes of live quotas that are not applied and verified in Redis yet; NaN if the database cannot be read.',
    registers,
    // All processes read the same table.
    aggregator: 'max',
    async collect() {
      this.set(await readGauge('quota_resets_pending'));
    },
  });
  new Gauge({
    name: 'keyfront_gateway_lag_seconds',
    help: 'For how long the oldest change has waited that some gateway has not acknowledged; 0 without one, NaN if the database cannot be read.',
    registers,
    // All processes read the same table.
    aggregator: 'max',
    async collect() {
      this.set(await readGauge('gateway_lag'));
    },
  });
  new Gauge({
    name: 'keyfront_ready',
    help: '1 if /ready returns 200, otherwise 0.',
    registers,
    aggregator: 'min',
    async collect() {
      this.set(await readGauge('ready'));
    },
  });

  return {
    registry,
    meter: {
      recordResponse: ({ route, operation, client, fields, verdict, seconds }) => {
        const labels = { face: transportOf(route), operation: operations.has(operation) ? operation : 'other' };
        const named = client === undefined ? 'none' : knownOrOther(clientNames, client);
        clientRequests.inc({ client: named, operation: labels.operation });
        if (fields) usage.count(named, fields);
        requests.inc({ ...labels, verdict });
        durations.observe(labels, seconds);
      },
      countRejection: (reason) => rejected.inc({ reason }),
      committed: (changes, seconds) => {
        batchSizes.observe(changes);
        commits.observe(seconds);
      },
      commitFailed: () => failures.inc(),
      authenticationFailed: (kind, reason) =>
        wrongCredentials.inc({ kind: knownOrOther(kinds, kind), reason: knownOrOther(reasons, reason) }),
      consumed: (verdict) => quotas.inc({ verdict: knownOrOther(verdicts, verdict) }),
      verified: (code) => verifications.inc({ code }),
      delivered: (outcome, count) => deliveries.inc({ outcome }, count),
      webhookAttempted: (outcome) => webhooks.inc({ outcome }),
      registerGauge: (name, read) => {
        const others = sources.get(name);
        sources.set(name, others ? async () => (await others()) + (await read()) : read);
      },
    },
  };
}

/** Counts requests by client and document, which takes a fraction of the time of counting each field. */
function createFieldUsage() {
  const counts = new Map<readonly string[], Map<string, number>>();
  const maxDocuments = 1_000;
  return {
    count(client: string, fields: readonly string[]) {
      const known = counts.get(fields);
      // Bounds the memory if clients send a new document with each request between two scrapes.
      if (!known && counts.size >= maxDocuments) return;
      const ofClients = known ?? new Map<string, number>();
      if (!known) counts.set(fields, ofClients);
      ofClients.set(client, (ofClients.get(client) ?? 0) + 1);
    },
    takeCounts(add: (client: string, field: string, count: number) => void) {
      for (const [fields, ofClients] of counts) {
        for (const [client, count] of ofClients) for (const field of fields) add(client, field, count);
      }
      counts.clear();
    },
  };
}

/** Creates the metrics of a process that serves no requests itself. */
export function createProcessMetrics(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

function knownOrOther(known: ReadonlySet<string>, name: string): string {
  return known.has(name) ? name : 'other';
}

const transports: ReadonlyMap<string, string> = new Map([
  ['/graphql', 'graphql'],
  ['/health', 'health'],
  ['/ready', 'health'],
]);

/** Pages for browsers and unknown paths are `other`. */
function transportOf(route: string): string {
  return transports.get(route) ?? (/^\/(api|svc)\//.test(route) ? 'rest' : 'other');
}
