import type { Writable } from 'node:stream';
import { OutputClosedError } from '../io.js';

/** As a shell reports a program that wrote into a pipe which nobody read. */
const pipeBroke = 141;

export interface OutputWriter {
  readonly write: (text: string) => void;
  readonly drained: () => Promise<void>;
  /** Waits until all is written. Answers the exit code that goes with what has been lost, 0 where nothing was. */
  readonly end: () => Promise<number>;
}

/** Results on their way to a stream: at the pace of who reads it, and without a word where its reader goes away. */
export function createOutputWriter(stream: Writable, say: (text: string) => void): OutputWriter {
  let lost: NodeJS.ErrnoException | undefined;
  let wake: (() => void) | undefined;
  const go = () => wake?.();
  stream.on('drain', go);
  stream.on('error', (error) => {
    lost ??= error;
    go();
  });
  return {
    write: (text) => {
      if (!lost) stream.write(text);
    },
    drained: async () => {
      if (!lost && stream.writableNeedDrain) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (lost) throw new OutputClosedError('The results have nowhere to go.', { cause: lost });
    },
    end: async () => {
      if (!lost) await new Promise<void>((resolve) => stream.write('', () => resolve()));
      if (!lost) return 0;
      if (lost.code === 'EPIPE') return pipeBroke;
      say(`The results could not be written (${lost.code ?? 'for an unknown reason'}).\n`);
      return 1;
    },
  };
}
