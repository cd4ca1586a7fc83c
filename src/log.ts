import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Members that no log line shows, whoever logs them and however deep. */
const hidden = [
  'password',
  'secret',
  'hmacString',
  'hmac_string',
  'authorization',
  'x-svc-authorization',
  'keyID',
  'key_id',
  'token',
];

/**
 * The one logger: a JSON line each, on standard error unless told otherwise, with every known secret's name redacted.
 * `ids` is asked for what else each line says, such as the trace that it is part of.
 */
export function createLogger(level: LogLevel, destination?: DestinationStream, ids?: () => object): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: hidden.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: '[hidden]' },
    ...(ids && { mixin: ids }),
  };
  return destination ? pino(options, destination) : pino(options, pino.destination({ dest: 2, sync: true }));
}
