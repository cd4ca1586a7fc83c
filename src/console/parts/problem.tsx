import type { KeyfrontError } from '../../client/client.js';
import { text } from '../strings.js';

interface ProblemProps {
  readonly error: KeyfrontError | undefined;
  readonly retry?: () => void;
}

/** Shows an error of the service, with its issues and the id of the request in the log of the service. */
export function Problem({ error, retry }: ProblemProps) {
  if (!error) return null;
  const { code, message, issues, requestID } = error;
  return (
    <div class="card problem" role="alert">
      <h2>{text.errors[code]}</h2>
      <p>{message}</p>
      {issues.length > 0 && (
        <ul>
          {issues.map((issue) => (
            <li key={`${issue.path} ${issue.code}`}>
              <code>{issue.path}</code> {issue.message}
            </li>
          ))}
        </ul>
      )}
      {requestID !== undefined && <p class="hint">{text.errors.request(requestID)}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          {text.errors.retry}
        </button>
      )}
    </div>
  );
}
