/** The sealed result of a request with an idempotency key. */
export interface Receipt {
  /** Identifies the request. */
  readonly id: string;
  readonly at: Date;
  readonly sealed: Uint8Array;
}

/** Where the receipts of one kind of request are looked up. */
export type ReceiptSource = Pick<ReceiptStore, 'findReceipt' | 'removeReceipt'>;

/** The receipts. Those of changes are written with them; if there is one with the same id, the change is rejected. */
export interface ReceiptStore {
  findReceipt(id: string): Promise<Receipt | undefined>;
  /** Adds a receipt without a change. Rejects when there is one with this id. */
  addReceipt(receipt: Receipt): Promise<void>;
  /** Removes the receipt with this id if it is of this time or before. It would reject another one with its id. */
  removeReceipt(id: string, upTo: Date): Promise<void>;
  /** Removes the receipts of this time and before. Returns how many. */
  purgeReceipts(upTo: Date): Promise<number>;
  /** Yields all receipts, a page at a time. */
  allReceipts(): AsyncIterable<readonly Receipt[]>;
}

/** Seals the contents of receipts. */
export interface ReceiptCodec {
  /** Returns the hash of a JSON value, which may contain bigints. */
  readonly digest: (value: unknown) => string;
  /** Seals a content for the receipt with this id and time. */
  readonly seal: (content: object, of: Omit<Receipt, 'sealed'>) => Uint8Array;
  /** The inverse of `seal`. @throws {AppError} INTERNAL when the receipt is not as it was written. */
  readonly open: (receipt: Receipt) => unknown;
  /**
   * Whether the key that sealed the receipt has been removed from the key ring, so that it cannot be opened any more.
   *
   * @throws {AppError} INTERNAL as `open`.
   */
  readonly isKeyRemoved: (receipt: Receipt) => boolean;
}

/** Makes the receipt of a result; undefined for a request without an idempotency key. */
export type ReceiptOf<Result> = (result: Result) => Receipt | undefined;
