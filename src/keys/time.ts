/** The moment in whole Unix seconds. */
export function unixSeconds(moment: Date): bigint {
  return BigInt(Math.floor(moment.getTime() / 1000));
}
