import { itemAddress, itemAt } from './item-address.js';

/** The address of the list of webhooks. */
export const webhooksAddress = '/console/webhooks';

/** The address of the page of a webhook. */
export function webhookAddress(id: string): string {
  return itemAddress(webhooksAddress, id);
}

/** The identifier of the webhook whose page an address names. */
export function webhookIDAt(pathname: string): string | undefined {
  return itemAt(webhooksAddress, pathname);
}
