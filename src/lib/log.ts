import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** The values of LOG_LEVEL, from the most to the least detailed. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** Members that are redacted in every log line, at any depth. */
const redactedNames: ReadonlySet<string> = new Set([
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
 * Creates the logger: JSON lines, to standard error by default, with the members of `redactedNames` redacted.
 *
 * @param destination - receives the lines, each with its line break
 * @param ids - returns additional members of each line, such as the trace ID
 */
export function createLogger(level: LogLevel, destination?: DestinationStream, ids?: () => object): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Pino's own redaction is ten times slower than the rest of a line, and limited to configured paths.
    formatters: { level: (label: string) => ({ level: label }), log: redacted },
    serializers: {
      err: (error: unknown) =>
        error instanceof Error ? redacted({ ...pino.stdSerializers.err(error) }) : redactedValue(error, 1),
      // For bindings of child loggers, which bypass the formatter.
      ...Object.fromEntries([...redactedNames].map((name) => [name, () => '[hidden]'])),
    },
    ...(ids && { mixin: ids }),
  };
  return pino(options, destination ?? standardError());
}

/** Writes the lines of one event loop iteration together, because a write takes longer than formatting a line. */
function standardError(): DestinationStream {
  const output = pino.destination({ dest: 2, sync: true });
  let pending = '';
  return {
    write: (line) => {
      if (pending === '') {
        setImmediate(() => {
          const lines = pending;
          pending = '';
          output.write(lines);
        });
      }
      pending += line;
    },
  };
}

type Members = Record<string, unknown>;

/** Deeper than any object that the service logs. */
const maxDepth = 10;

function redacted(members: Members, depth = 1): Members {
  const shown: Members = {};
  for (const [name, value] of Object.entries(members)) {
    // Pino serializes the error to an object, which the serializer above redacts.
    if (depth === 1 && value instanceof Error && name === 'err') shown[name] = value;
    else shown[name] = redactedNames.has(name) && value !== undefined ? '[hidden]' : redactedValue(value, depth);
  }
  return shown;
}

function redactedValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  if (depth >= maxDepth) return '[too deep]';
  return Array.isArray(value)
    ? value.map((item: unknown) => redactedValue(item, depth + 1))
    : redacted(value as Members, depth + 1);
}
