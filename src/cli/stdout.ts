import type { Writable } from 'node:stream';
import { OutputClosedError } from './io.js';

/** 128 + SIGPIPE: the exit code of a shell for a program whose reader closed the pipe. */
const closedPipeExitCode = 141;

/** Standard output with backpressure. */
interface OutputWriter {
  readonly write: (text: string) => void;
  /** Resolves when the stream accepts more data; rejects with `OutputClosedError` after a write error. */
  readonly drained: () => Promise<void>;
  /** Waits until everything is written. Resolves to 0, or to the exit code for the data that was lost. */
  readonly end: () => Promise<number>;
}

/** Creates the writer of a stream. A closed pipe (EPIPE) is not reported to standard error. */
export function createOutputWriter(stream: Writable, stderr: (text: string) => void): OutputWriter {
  let writeError: NodeJS.ErrnoException | undefined;
  let resume: (() => void) | undefined;
  stream.on('drain', () => resume?.());
  stream.on('error', (error) => {
    writeError ??= error;
    resume?.();
  });
  return {
    write: (text) => {
      if (!writeError) stream.write(text);
    },
    drained: async () => {
      if (!writeError && stream.writableNeedDrain) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      if (writeError) throw new OutputClosedError('Cannot write results to standard output.', { cause: writeError });
    },
    end: async () => {
      if (!writeError) await new Promise<void>((resolve) => stream.write('', () => resolve()));
      if (!writeError) return 0;
      if (writeError.code === 'EPIPE') return closedPipeExitCode;
      stderr(`Cannot write results to standard output (${writeError.code ?? 'unknown error'}).\n`);
      return 1;
    },
  };
}
