import { formatExactTime, formatRelative, toDate, type Integer } from '../format.js';
import { text } from '../strings.js';

/** A time from now, with the exact one on hover. */
export function Ago({ at }: { readonly at: string | Integer | null }) {
  if (at === null || Number.isNaN(toDate(at).getTime())) return <>{text.none}</>;
  return (
    <time dateTime={toDate(at).toISOString()} title={formatExactTime(at)}>
      {formatRelative(at)}
    </time>
  );
}
