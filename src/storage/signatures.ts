/** The signatures of all rows, for the rotation of keys. */
export interface Signatures {
  /** Signs every row anew that is signed under an older key. Returns how many were left, not being as they were written. */
  readonly renew: (onRow: () => void) => Promise<number>;
  /** Whether a row is still signed under an older key. */
  readonly hasOlder: () => Promise<boolean>;
}
