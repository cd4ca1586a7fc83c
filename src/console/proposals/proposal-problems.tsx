import { sentenceOf } from '../fields.js';
import type { Proposal } from './read-proposals.js';

/** Why the change was not possible. */
export function Problems({
  proposal: { problem, problemIssues },
}: {
  readonly proposal: Pick<Proposal, 'problem' | 'problemIssues'>;
}) {
  return (
    <>
      {problem !== null && <p>{problem}</p>}
      {problemIssues.length > 0 && (
        <ul>
          {problemIssues.map((issue) => (
            <li key={`${issue.path} ${issue.code}`}>{sentenceOf(issue)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
