/** The time that a caller has. Whoever has none given has all the time in the world. */
export interface Turn {
  /** Throws UNAVAILABLE once the time is up: asked before work that takes long. */
  readonly requireTime: () => void;
  /** The same, and from here on something is written: asked inside the transaction, before it writes. */
  readonly begin: () => void;
}
