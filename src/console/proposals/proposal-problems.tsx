import { IssueList } from '../parts/problem.js';
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
      <IssueList issues={problemIssues} />
    </>
  );
}
