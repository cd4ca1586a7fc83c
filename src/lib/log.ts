import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Members that no log line shows, whoever logs them and however deep. */
const hidden: ReadonlySet<string> = new Set([
  'password',
  'secret',
  'hmacString',
  'hmac_string',
  'authorization',
  'x-svc-authorization',
  'keyID',
  'key_id',
  'token',
]);

/**
 * The one logger: a JSON line each, on standard error unless told otherwise, with every known secret's name redacted.
 * `ids` is asked for what else each line says, such as the trace that it is part of.
 */
export function createLogger(level: LogLevel, destination?: DestinationStream, ids?: () => object): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Pino's own redaction takes ten times as long as all the rest of a line, and looks no deeper than it is told.
    formatters: { level: (label: string) => ({ level: label }), log: redacted },
    serializers: {
      err: (error: unknown) =>
        error instanceof Error ? redacted({ ...pino.stdSerializers.err(error) }) : redactedValue(error, 1),
      // For what a child logger is bound to, which comes through no formatter.
      ...Object.fromEntries([...hidden].map((name) => [name, () => '[hidden]'])),
    },
    ...(ids && { mixin: ids }),
  };
  return pino(options, destination ?? standardError());
}

/** Writes the lines of one turn of the event loop together: to write takes longer than all the rest of a line. */
function standardError(): DestinationStream {
  const output = pino.destination({ dest: 2, sync: true });
  let held = '';
  return {
    write: (line) => {
      if (held === '') {
        setImmediate(() => {
          const lines = held;
          held = '';
          output.write(lines);
        });
      }
      held += line;
    },
  };
}

type Members = Record<string, unknown>;

/** Deeper than anything that we log. */
const mostLevels = 10;

function redacted(members: Members, level = 1): Members {
  const shown: Members = {};
  for (const [name, value] of Object.entries(members)) {
    // Pino makes an object of an error, which comes through here in its turn.
    if (level === 1 && value instanceof Error && name === 'err') shown[name] = value;
    else shown[name] = hidden.has(name) && value !== undefined ? '[hidden]' : redactedValue(value, level);
  }
  return shown;
}

function redactedValue(value: unknown, level: number): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  if (level >= mostLevels) return '[too deep]';
  return Array.isArray(value)
    ? value.map((item: unknown) => redactedValue(item, level + 1))
    : redacted(value as Members, level + 1);
}
