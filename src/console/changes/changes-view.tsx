import { useEffect, useState } from 'preact/hooks';
import { OrgKeyChangesDocument, type Client, type OrgKeyChangesQuery } from '../../client/client.js';
import { nameOf, shortHash } from '../format.js';
import { Entry } from '../key/activity.js';
import { Notice } from '../key/notices.js';
import { keyAddress } from '../key-address.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { OrganizationChoice } from '../parts/organization-choice.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { addressWith, Link, useAddress } from '../router.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useFollow } from '../use-follow.js';
import { nodesOf, required, type NodeOf } from '../results.js';
import { useAction, useLoad } from '../use-load.js';
import { changesText } from './strings.js';

const pageSize = 30;
/** A page without a change may still have a next one: requests for one page. */
const maxRequests = 10;

/** A change of a key, or a notice about it. */
type Item = Extract<
  NodeOf<OrgKeyChangesQuery['orgKeyChanges']>,
  { readonly __typename: 'OrgKeyChanged' | 'OrgKeyNoticed' }
>;

/** Changes without a gap, the newest first. */
interface Feed {
  readonly orgID: string | undefined;
  readonly items: readonly Item[];
  /** The cursor after which older ones follow; undefined if there are none. */
  readonly next: string | undefined;
}

/** Reads the newest changes, or those before a cursor. */
async function readFeed(client: Client, orgID: string | undefined, after: string | null, signal?: AbortSignal) {
  let next = after;
  for (let requests = 1; ; requests += 1) {
    const variables = { orgID: orgID ?? null, first: pageSize, after: next };
    const { data, errors } = await client.send(OrgKeyChangesDocument, variables, { signal });
    const connection = required(data.orgKeyChanges, errors, text.notFound);
    const items = nodesOf(connection).filter((node) => node.__typename !== 'KeyFeedCheckpoint');
    const { pageInfo } = connection;
    next = pageInfo.endCursor;
    const isLast = !pageInfo.hasNextPage || next === null;
    if (isLast || items.length > 0 || requests === maxRequests) {
      return { orgID, items, next: isLast ? undefined : (next ?? undefined) } satisfies Feed;
    }
  }
}

/** Puts the newest changes before those that are shown already, unless there is a gap between them. */
function withNewest(newest: Feed, shown: Feed | undefined): Feed {
  if (!shown || shown.orgID !== newest.orgID) return newest;
  const cursors = new Set(newest.items.map(({ cursor }) => cursor));
  const older = shown.items.filter(({ cursor }) => !cursors.has(cursor));
  const hasGap = older.length === shown.items.length && newest.next !== undefined;
  return hasGap ? newest : { ...shown, items: [...newest.items, ...older] };
}

/** The changes of all keys and notices about them, or of those of one organization. */
export function ChangesView() {
  const client = useClient('service');
  const { searchParams } = useAddress();
  const orgID = searchParams.get('org') ?? undefined;
  const first = useLoad((signal) => readFeed(client, orgID, null, signal), [client, orgID]);
  const [feed, setFeed] = useState<Feed>();
  useEffect(() => {
    const newest = first.data;
    if (newest) setFeed((shown) => withNewest(newest, shown));
  }, [first.data]);
  const more = useAction(async () => {
    if (feed?.next === undefined) return;
    const older = await readFeed(client, feed.orgID, feed.next);
    setFeed((shown) => shown && { ...older, items: [...shown.items, ...older.items] });
  });
  useFollow({ orgID }, first.reload);
  const items = feed?.items ?? [];
  return (
    <>
      <PageHead
        title={text.nav.changes}
        actions={
          <OrganizationChoice
            orgID={orgID}
            shown={items.flatMap((item) => item.orgID ?? [])}
            addressOf={(org) => addressWith('/console/changes', { org })}
          />
        }
      >
        {changesText.hint}
      </PageHead>
      <Problem error={first.error ?? more.error} retry={first.reload} />
      {feed && items.length === 0 && feed.next === undefined && (
        <Empty title={changesText.empty}>
          <p>{changesText.emptyHint}</p>
        </Empty>
      )}
      {(items.length > 0 || feed?.next !== undefined) && (
        <section class="panel" aria-label={changesText.feed}>
          <ol class="feed">
            {items.map((item) => (
              <FeedItem key={item.cursor} item={item} />
            ))}
          </ol>
          {feed?.next !== undefined && (
            <div class="body">
              <Button disabled={more.isRunning} onClick={() => void more.run()}>
                {changesText.older}
              </Button>
            </div>
          )}
        </section>
      )}
    </>
  );
}

/** One change or notice, with the key that it is about. A purged key has no page. */
function FeedItem({ item }: { readonly item: Item }) {
  const { keyHash, orgID, key } = item;
  if (keyHash === null) return <li class="issue">{changesText.damaged}</li>;
  const subject = (
    <>
      {key ? (
        <Link to={keyAddress(keyHash)}>{nameOf({ keyHash, definition: key.definition })}</Link>
      ) : (
        <span title={keyHash}>{shortHash(keyHash)}</span>
      )}{' '}
      <small>{orgID}</small>
    </>
  );
  if (item.__typename === 'OrgKeyNoticed') return <Notice notice={item.notice} subject={subject} />;
  return item.entry && <Entry entry={item.entry} subject={subject} />;
}
