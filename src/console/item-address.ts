/** The address of the page of an item of a list, such as a policy. */
export function itemAddress(list: string, id: string): string {
  return `${list}/${encodeURIComponent(id)}`;
}

/** The identifier of the item of a list whose page an address names. */
export function itemAt(list: string, pathname: string): string | undefined {
  if (!pathname.startsWith(`${list}/`)) return undefined;
  const encoded = pathname.slice(list.length + 1);
  if (encoded === '' || encoded.includes('/')) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Not an encoding: no item has this identifier.
    return encoded;
  }
}
