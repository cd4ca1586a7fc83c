import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import {
  LastChangesDocument,
  OrganizationsDocument,
  type EntryFragment,
  type NoticeFragment,
  type OrgKeyState,
} from '../../client/client.js';
import { nameOf } from '../format.js';
import { Entry } from '../key/activity.js';
import { Notice } from '../key/notices.js';
import { keyAddress } from '../key-address.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { PageHead } from '../parts/page-head.js';
import { Problem } from '../parts/problem.js';
import { Link, navigate, useAddress } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useFollow } from '../use-follow.js';
import { required } from '../results.js';
import { useAction, useLoad } from '../use-load.js';
import { changesText } from './strings.js';

const pageSize = 30;
const allStates: OrgKeyState[] = ['ACTIVE', 'INACTIVE', 'EXPIRED', 'DELETED'];

/** The last change of a key. */
interface LastChange {
  readonly keyHash: string;
  readonly orgID: string;
  readonly name: string;
  readonly entry: EntryFragment;
  /** The newest notice about the key, if it is newer than the change. */
  readonly notice: NoticeFragment | undefined;
}

/** The last changes of all keys, with notices that are newer, or of those of one organization. */
export function ChangesView() {
  const client = useClient('service');
  const { searchParams } = useAddress();
  const orgID = searchParams.get('org') ?? undefined;
  const read = async (after: string | null, signal?: AbortSignal) => {
    const filter = { states: allStates, ...(orgID !== undefined && { orgID }) };
    const { data, errors } = await client.send(LastChangesDocument, { filter, first: pageSize, after }, { signal });
    const { edges, pageInfo } = required(data.orgKeys, errors, text.notFound);
    const changes = (edges ?? []).flatMap((edge): LastChange[] => {
      const entry = edge?.node?.history?.edges?.[0]?.node;
      if (!edge?.node || !entry) return [];
      const { keyHash, orgID, notices } = edge.node;
      const notice = notices?.find(({ at }) => Date.parse(at) > Date.parse(entry.at));
      return [{ keyHash, orgID, name: nameOf(edge.node), entry, notice }];
    });
    return { changes, pageInfo };
  };
  const first = useLoad((signal) => read(null, signal), [client, orgID]);
  const [older, setOlder] = useState<readonly Awaited<ReturnType<typeof read>>[]>([]);
  useEffect(() => setOlder([]), [first.data]);
  const last = older.at(-1) ?? first.data;
  const more = useAction(async () => {
    const page = await read(last?.pageInfo.endCursor ?? null);
    setOlder((pages) => [...pages, page]);
  });
  useFollow({ orgID }, first.reload);
  const seen = new Set<string>();
  const changes = [...(first.data?.changes ?? []), ...older.flatMap((page) => page.changes)].filter(({ keyHash }) => {
    const isNew = !seen.has(keyHash);
    seen.add(keyHash);
    return isNew;
  });
  return (
    <>
      <PageHead
        title={text.nav.changes}
        actions={<OrganizationChoice orgID={orgID} shown={changes.map((change) => change.orgID)} />}
      >
        {changesText.hint}
      </PageHead>
      <Problem error={first.error ?? more.error} retry={first.reload} />
      {first.data && changes.length === 0 && (
        <Empty title={changesText.empty}>
          <p>{changesText.emptyHint}</p>
        </Empty>
      )}
      {changes.length > 0 && (
        <section class="panel" aria-label={changesText.feed}>
          <ol class="feed">
            {changes.map(({ keyHash, name, orgID: owner, entry, notice }) => {
              const subject = (
                <>
                  <Link to={keyAddress(keyHash)}>{name}</Link> <small>{owner}</small>
                </>
              );
              return (
                <Fragment key={keyHash}>
                  {notice && <Notice notice={notice} subject={subject} />}
                  <Entry entry={entry} subject={subject} />
                </Fragment>
              );
            })}
          </ol>
          {last?.pageInfo.hasNextPage && (
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

interface OrganizationChoiceProps {
  readonly orgID: string | undefined;
  /** The organizations of the changes on the page: one whose keys are all deleted is not in the list of organizations. */
  readonly shown: readonly string[];
}

/** Restricts the page to one organization, unless the credential is. */
function OrganizationChoice({ orgID, shown }: OrganizationChoiceProps) {
  const client = useClient('service');
  const { viewer } = useSession();
  const known = useLoad(
    async (signal) => {
      const { data } = await client.send(OrganizationsDocument, { first: 100 }, { signal });
      return (data.organizations?.edges ?? []).flatMap((edge) => edge?.node?.id ?? []);
    },
    [client],
  );
  if (viewer?.orgID != null) return null;
  const options = [...new Set([...(known.data ?? []), ...shown, ...(orgID === undefined ? [] : [orgID])])].toSorted();
  return (
    <label class="inline">
      {changesText.filter}
      <select
        onChange={({ currentTarget: { value } }) =>
          navigate(value === '' ? '/console/changes' : `/console/changes?org=${encodeURIComponent(value)}`)
        }
      >
        <option value="" selected={orgID === undefined}>
          {changesText.all}
        </option>
        {options.map((id) => (
          <option key={id} value={id} selected={id === orgID}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
}
