import type { ComponentChildren } from 'preact';
import type { EntryFragment, NoticeFragment } from '../../client/client.js';
import { formatInteger, formatNumber, formatTime } from '../format.js';
import { Ago } from '../parts/time.js';
import { text } from '../strings.js';
import { keyText } from './strings.js';

/** Describes a notice in a sentence. */
export function describeNotice(notice: NoticeFragment): string {
  const { kind, daysBefore, expiresAt, threshold, quotaUsed, quotaMax } = notice;
  return keyText.activity.notice[kind]({
    days: daysBefore === null ? '' : formatNumber(daysBefore),
    expires: expiresAt === null ? text.none : formatTime(expiresAt),
    threshold: threshold === null ? '' : formatNumber(threshold),
    used: quotaUsed === null ? '' : formatInteger(quotaUsed),
    max: quotaMax === null ? '' : formatInteger(quotaMax),
  });
}

/** One notice in a feed: what became of the key, and when. */
export function Notice({ notice, subject }: { readonly notice: NoticeFragment; readonly subject?: ComponentChildren }) {
  return (
    <li data-notice={notice.kind}>
      <div class="what">
        {subject} {describeNotice(notice)}
      </div>
      <div class="when">
        <small>
          <Ago at={notice.at} /> · {keyText.version(notice.version)}
        </small>
      </div>
    </li>
  );
}

/** An item of a feed. */
export type FeedItem = { readonly entry: EntryFragment } | { readonly notice: NoticeFragment };

/**
 * Puts notices between the changes of a key, the newest first.
 *
 * @param isComplete - whether there are no older changes; otherwise notices from before the oldest one are left out
 */
export function withNotices(
  entries: readonly EntryFragment[],
  notices: readonly NoticeFragment[],
  isComplete: boolean,
): FeedItem[] {
  const timeOf = (item: FeedItem) => Date.parse('entry' in item ? item.entry.at : item.notice.at);
  const oldest = entries.at(-1);
  const from = isComplete || !oldest ? -Infinity : Date.parse(oldest.at);
  const shown = notices.map((notice) => ({ notice })).filter((item) => timeOf(item) >= from);
  return [...entries.map((entry) => ({ entry })), ...shown].toSorted((a, b) => timeOf(b) - timeOf(a));
}
