import type { KeyfrontIssue } from '../../client/client.js';
import { sentenceOf } from '../fields.js';
import { text } from '../strings.js';

/** Warnings about a definition that is valid. */
export function Warnings({ warnings }: { readonly warnings: readonly Omit<KeyfrontIssue, 'code'>[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul class="note warn" aria-label={text.warnings}>
      {warnings.map((warning) => (
        <li key={warning.path + warning.message}>{sentenceOf(warning)}</li>
      ))}
    </ul>
  );
}
