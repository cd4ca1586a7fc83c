/** What a command sees of the process it runs in. Only `main.ts` makes a real one. */
export interface IO {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results: what a caller may want to pipe. */
  out(text: string): void;
  /** Everything else: progress, warnings, explanations. */
  say(text: string): void;
  /** Whether a person is watching what `say` prints. */
  readonly isWatched: boolean;
  /** Calls back once when the process is asked to stop. */
  onStop(callback: () => void): void;
  /** Calls back with whatever was thrown and caught by nobody. Without it, such a thing ends the process. */
  onFault?(callback: (fault: unknown) => void): void;
  /** The options that Node itself was started with. */
  readonly nodeOptions?: readonly string[];
}

/** A wrong call of a command: the message is for the person who typed it. */
export class UsageError extends Error {}

interface Progress {
  readonly show: (count: number) => void;
  readonly end: () => void;
}

/** A line that is written over as work proceeds; nothing where nobody watches. */
export function createProgress(io: IO, noun: string): Progress {
  let shown = 0;
  return {
    show: (count) => {
      if (!io.isWatched || Date.now() - shown < 100) return;
      shown = Date.now();
      io.say(`\r${count.toLocaleString('en')} ${noun} …`);
    },
    end: () => {
      if (io.isWatched) io.say('\r\u001b[K');
    },
  };
}
