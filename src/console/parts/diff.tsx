import type { ChangeFragment } from '../../client/client.js';
import { formatValue } from '../format.js';
import { text } from '../strings.js';

/** The fields that differ between two versions. Values of secrets are not known. */
export function Diff({ changes }: { readonly changes: readonly ChangeFragment[] }) {
  if (changes.length === 0) return <p class="hint">{text.key.noChanges}</p>;
  return (
    <div class="scroller" role="group" aria-label={text.diff.caption} tabIndex={0}>
      <table class="diff">
        <thead>
          <tr>
            <th scope="col">{text.diff.field}</th>
            <th scope="col">{text.diff.before}</th>
            <th scope="col">{text.diff.after}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ path, kind, before, after }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path}</code> <small>{text.diff.kinds[kind]}</small>
              </th>
              <td class="before">{before == null ? text.none : <del>{formatValue(before)}</del>}</td>
              <td class="after">{after == null ? text.none : <ins>{formatValue(after)}</ins>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
