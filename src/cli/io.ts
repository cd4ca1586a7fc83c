/** What a command sees of the process it runs in. Only `main.ts` makes a real one. */
export interface IO {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results: what a caller may want to pipe. */
  out(text: string): void;
  /**
   * Resolves when whoever reads the results is ready for more, and rejects with `OutputLost` where nobody is any more.
   * To be awaited by whoever has many, since what is not read is kept in memory.
   */
  drained?(): Promise<void>;
  /** Everything else: progress, warnings, explanations. */
  say(text: string): void;
  /** What is piped in. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Whether a person is watching what `say` prints. */
  readonly isWatched: boolean;
  /** Whether a person, and no program, reads what `out` prints. */
  readonly isTerminal?: boolean;
  /** Calls back once when the process is asked to stop. */
  onStop(callback: () => void): void;
  /** Calls back with whatever was thrown and caught by nobody. Without it, such a thing ends the process. */
  onFault?(callback: (fault: unknown) => void): void;
  /** The options that Node itself was started with. */
  readonly nodeOptions?: readonly string[];
}

/** A wrong call of a command: the message is for the person who typed it. */
export class UsageError extends Error {}

/** Results had nowhere to go. There is nothing to say to anybody. */
export class OutputLost extends Error {}
