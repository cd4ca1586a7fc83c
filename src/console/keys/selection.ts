import type { RowFragment } from '../../client/client.js';

/** The selected keys, by their hashes. */
export type SelectedKeys = ReadonlyMap<string, RowFragment>;

let handedOver: SelectedKeys = new Map();

/** Hands the selection to the page for bulk changes. It is not in the address, which would be too long. */
export function handOver(selection: SelectedKeys): void {
  handedOver = selection;
}

/** The selection that was handed over; empty after a reload. */
export function handedOverKeys(): SelectedKeys {
  return handedOver;
}
