import type { ChangeFragment } from '../../client/client.js';
import { describeChanges, type ChangeLine } from '../describe-change.js';

/** The fields that differ between two versions, each on a line, in the words and units of the console. */
export function Diff({ changes }: { readonly changes: readonly Omit<ChangeFragment, 'segments'>[] }) {
  return (
    <ul class="diff">
      {describeChanges(changes).map((line) => (
        <Line key={line.path} {...line} />
      ))}
    </ul>
  );
}

function Line({ label, path, before, after, note }: ChangeLine) {
  return (
    <li title={path}>
      <span class="field-name">{label}</span>{' '}
      {before.map((value) => (
        <>
          <del key={value}>{value}</del>{' '}
        </>
      ))}
      {after.map((value) => (
        <>
          <ins key={value}>{value}</ins>{' '}
        </>
      ))}
      {note !== undefined && <small>{note}</small>}
    </li>
  );
}
