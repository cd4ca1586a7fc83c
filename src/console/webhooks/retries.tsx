import { TableHead } from '../parts/table-head.js';
import { Ago } from '../parts/time.js';
import { KeyLink } from './key-link.js';
import type { Retry, WebhookDetails } from './read-webhooks.js';
import { webhooksText } from './strings.js';

const texts = webhooksText.retries;

/** The deliveries that have failed and are tried again, the next ones first. */
export function Retries({ webhook: { retries, failingKeys } }: { readonly webhook: WebhookDetails }) {
  const shown = retries?.length ?? 0;
  return (
    <section class="panel" aria-labelledby="retries">
      <header>
        <h2 id="retries">{texts.title}</h2>
        {failingKeys !== null && failingKeys > shown && (
          <small>{texts.more(shown, webhooksText.count(failingKeys))}</small>
        )}
      </header>
      {shown === 0 ? (
        <p class="body">{retries === null ? texts.unknown : texts.none}</p>
      ) : (
        <table class="cards" aria-label={texts.table}>
          <TableHead columns={texts.columns} />
          <tbody>
            {retries?.map((retry) => (
              <Row key={`${retry.keyHash} ${retry.eventID}`} retry={retry} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ retry }: { readonly retry: Retry }) {
  const { keyHash, eventID, version, lastVersion, attempts, nextAttemptAt, lastError } = retry;
  return (
    <tr>
      <th scope="row">
        <KeyLink keyHash={keyHash} />
        {eventID !== null && (
          <small>
            <code>{eventID}</code>
          </small>
        )}
      </th>
      <td data-label={texts.columns.version}>{texts.versions(version, lastVersion)}</td>
      <td data-label={texts.columns.attempts}>{attempts}</td>
      <td data-label={texts.columns.next}>
        <Ago at={nextAttemptAt} />
      </td>
      <td data-label={texts.columns.error}>{lastError}</td>
    </tr>
  );
}
