import type { KeyfrontError, KeyfrontIssue } from '../../client/client.js';
import { sentenceOf } from '../fields.js';
import { text } from '../strings.js';
import { isTransient } from '../results.js';

interface ProblemProps {
  readonly error: KeyfrontError | undefined;
  readonly retry?: () => void;
}

/** Shows an error of the service, with its issues and the id of the request in the log of the service. */
export function Problem({ error, retry }: ProblemProps) {
  if (!error) return null;
  const { code, message, issues, requestID } = error;
  return (
    <div class="note bad" role="alert">
      <div>
        <b>{text.errors[code]}</b>
        <p>{message}</p>
        <IssueList issues={issues} />
        {requestID !== undefined && <small>{text.errors.request(requestID)}</small>}
      </div>
      {retry && (
        <div class="actions">
          {isTransient(error) && <small>{text.errors.retries}</small>}
          <button type="button" onClick={retry}>
            {text.errors.retry}
          </button>
        </div>
      )}
    </div>
  );
}

/** The issues of an error, as sentences. */
export function IssueList({ issues }: { readonly issues: readonly KeyfrontIssue[] }) {
  if (issues.length === 0) return null;
  return (
    <ul>
      {issues.map((issue) => (
        <li key={`${issue.path} ${issue.code}`}>{sentenceOf(issue)}</li>
      ))}
    </ul>
  );
}
