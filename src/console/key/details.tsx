import { formatTime } from '../format.js';
import { CopyButton } from '../parts/button.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.details;

/** What identifies the key for other tools, and its times. */
export function Details({ found }: SectionProps) {
  const { keyHash, id, createdAt, updatedAt, deletedAt, restorableUntil, version } = found;
  return (
    <section class="panel" aria-labelledby="details">
      <header>
        <h2 id="details">{texts.title}</h2>
      </header>
      <div class="body">
        <dl class="facts">
          <dt>{texts.created}</dt>
          <dd>{formatTime(createdAt)}</dd>
          <dt>{texts.updated}</dt>
          <dd>{formatTime(updatedAt)}</dd>
          {deletedAt !== null && (
            <>
              <dt>{texts.deleted}</dt>
              <dd>{formatTime(deletedAt)}</dd>
            </>
          )}
          {restorableUntil !== null && (
            <>
              <dt>{texts.purged}</dt>
              <dd>{texts.purgedAfter(formatTime(restorableUntil))}</dd>
            </>
          )}
          <dt>{texts.version}</dt>
          <dd>{version}</dd>
          <dt>{texts.keyHash}</dt>
          <dd class="long">
            <code>{keyHash}</code> <CopyButton value={keyHash} label={texts.keyHash} />
          </dd>
          <dt>{texts.id}</dt>
          <dd class="long">
            <code>{id}</code> <CopyButton value={id} label={texts.id} />
          </dd>
        </dl>
      </div>
    </section>
  );
}
