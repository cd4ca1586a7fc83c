import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readConfig, type Config, type ConfigSecrets } from '../config/config.js';
import { printable } from '../lib/text.js';
import { openServices, type Services } from '../storage/open-storage.js';
import { connectionOptions, serviceAddress, serviceCredential } from './client/connection.js';
import { serviceURLFrom } from './client/open.js';
import { serviceURLOption } from './client/run.js';
import { type CLICommand, type OptionValues, serviceVariables } from './command.js';
import {
  checkCredentials,
  checkDatabase,
  checkKeyRing,
  checkRedis,
  checkWebhooks,
  findingOfOpening,
  checkClock,
  checkDisk,
  checkPermissions,
  checkSettings,
  checkTLS,
  type Finding,
  checkService,
  checkRunning,
} from './doctor-checks.js';
import type { IO } from './io.js';
import { jsonOption, selectOutputFormat, type OutputFormat, toJSONLine } from './output.js';

export const doctorCommand: CLICommand = {
  name: 'doctor',
  summary: 'Check the installation and its environment, and print a remedy for each problem',
  description:
    'Checks the configuration, certificate, permissions, disk, database, running services and their profile, key ring, clock, credentials, Redis and webhooks, and changes nothing. Services may run meanwhile. Run it as the user of the service, with the same settings. With --url, checks that a service can be reached and is ready, its clock, and the service credential. With --json, prints one line per finding.',
  options: { url: serviceURLOption, ...connectionOptions, json: jsonOption },
  exitCodes: { 0: 'no check failed; there may be warnings', 1: 'a check failed' },
  examples: [
    'keyfront doctor',
    'keyfront doctor --url https://keys.example.com',
    'keyfront doctor --json | jq -r "select(.status != \\"ok\\").remedy"',
  ],
  environment: [...serviceVariables, 'KEYFRONT_QUOTA_URL', 'NODE_ENV', 'HOST'],
  run: doctor,
};

async function doctor(io: IO, options: OptionValues): Promise<number> {
  const format = selectOutputFormat(io, options);
  const counts = { ok: 0, warning: 0, failed: 0 };
  const url = serviceURLFrom(io, options);
  const findings =
    url === undefined ? findingsOf(io) : checkService(serviceAddress(io, options, url, serviceCredential));
  for await (const finding of findings) {
    counts[finding.status] += 1;
    io.stdout(format.isJSON ? `${toJSONLine(finding)}\n` : formatFinding(format, finding));
  }
  io.stderr(`Checks: ${counts.ok} ok, ${counts.warning} with a warning, ${counts.failed} failed.\n`);
  return counts.failed > 0 ? 1 : 0;
}

async function* findingsOf(io: IO): AsyncGenerator<Finding, void> {
  let settings: { readonly config: Config; readonly secrets: ConfigSecrets };
  try {
    settings = readConfig(io.env);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The settings cannot be read.';
    const remedy = 'Correct the settings; `keyfront --help` lists them. The other checks need valid settings.';
    yield { check: 'configuration', status: 'failed', message, remedy };
    return;
  }
  const { config, secrets } = settings;
  const usesFile = secrets.databaseURL === undefined;
  yield checkSettings(config);
  if (config.tls) yield checkTLS(config.tls, new Date());
  yield* checkPermissions(config, usesFile);
  const folder = dirname(usesFile ? config.databaseFile : config.keyRingFile);
  if (existsSync(folder)) yield await checkDisk(folder, usesFile ? sizeOf(config.databaseFile) : 0);
  yield* checkInstallation(config, secrets);
}

async function* checkInstallation(config: Config, secrets: ConfigSecrets): AsyncGenerator<Finding, void> {
  let services: Services;
  try {
    services = await openServices(config, secrets, {}, { access: 'read', liveQuotas: true });
  } catch (error) {
    yield findingOfOpening(error);
    return;
  }
  try {
    const { newestChange, ...database } = await checkDatabase(services);
    yield database;
    // Services report to a server that several hosts share, not to a file.
    if (secrets.databaseURL !== undefined) yield* await checkRunning(services);
    yield await checkKeyRing(services, config.keyRingFile);
    yield checkClock(services.now(), newestChange);
    yield* await checkCredentials(services);
    yield await checkRedis(services, secrets.quotaURL !== undefined);
    yield* await checkWebhooks(services);
  } finally {
    await services.close();
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function formatFinding({ paint }: OutputFormat, { check, status, message, remedy }: Finding): string {
  const color = { ok: paint.green, warning: paint.yellow, failed: paint.red }[status];
  const lines = [...message.split('\n'), ...(remedy === undefined ? [] : [`→ ${remedy}`])].map(printable);
  const indent = ' '.repeat(24);
  return `${color(status.padEnd(9))}${check.padEnd(15)}${lines.join(`\n${indent}`)}\n`;
}
