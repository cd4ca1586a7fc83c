/** The time limit of one change. */
export interface ChangeDeadline {
  /**
   * Called before work that takes long.
   * @throws {AppError} UNAVAILABLE when the time is up.
   */
  readonly throwIfExpired: () => void;
  /**
   * Called inside the transaction, before it writes. From then on the change is completed.
   * @throws {AppError} UNAVAILABLE when the time is up.
   */
  readonly markCommitting: () => void;
}
