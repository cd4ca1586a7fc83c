import { itemAddress, itemAt } from './item-address.js';

const list = '/console/policies';

/** The address of the page of a policy. */
export function policyAddress(policyID: string): string {
  return itemAddress(list, policyID);
}

/** The identifier of the policy whose page an address names. */
export function policyIDAt(pathname: string): string | undefined {
  return itemAt(list, pathname);
}
