/** The signatures of all rows, for the rotation of keys. */
export interface Signatures {
  /** Signs every row anew that is signed under an older key. Returns how many failed the integrity check and were left. */
  readonly renew: (onRow: () => void) => Promise<number>;
  /** Looks at the rows that are not signed under the current key. */
  readonly older: () => Promise<OlderRows>;
}

/** Rows that are not signed under the current key. */
export interface OlderRows {
  /** Whether a row is validly signed under an older key. */
  readonly hasValid: boolean;
  /** How many rows fail the integrity check; not all of them once a valid one was found. */
  readonly damaged: number;
}
