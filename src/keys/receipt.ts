/** The sealed result of a request with an idempotency key. */
export interface Receipt {
  /** Identifies the request. */
  readonly id: string;
  readonly at: Date;
  readonly sealed: Uint8Array;
}

/** Where the receipts of one kind of request are looked up. */
export type ReceiptSource = Pick<ReceiptStore, 'findReceipt'>;

/** The receipts. Those of changes are written with them; if there is one with the same id, the change is rejected. */
export interface ReceiptStore {
  findReceipt(id: string): Promise<Receipt | undefined>;
  /** Adds a receipt without a change. Rejects when there is one with this id. */
  addReceipt(receipt: Receipt): Promise<void>;
  /** Removes the receipts of this time and before. Returns how many. */
  purgeReceipts(upTo: Date): Promise<number>;
}

/** Seals the contents of receipts. */
export interface ReceiptCodec {
  /** Returns the hash of a JSON value, which may contain bigints. */
  readonly digest: (value: unknown) => string;
  readonly seal: (content: unknown, id: string) => Uint8Array;
  /** The inverse of `seal`. @throws {AppError} INTERNAL for other bytes. */
  readonly open: (sealed: Uint8Array, id: string) => unknown;
  /** Whether the key that sealed this has been removed from the key ring, so that it cannot be opened any more. */
  readonly isKeyRemoved: (sealed: Uint8Array) => boolean;
}
