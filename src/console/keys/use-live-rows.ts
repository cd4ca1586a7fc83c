import { useEffect, useState } from 'preact/hooks';
import { OrgKeyRowChangedDocument, type RowFragment } from '../../client/client.js';
import { useClient } from '../session.js';

/** The changes of keys since a page was loaded. */
export interface LiveRows {
  readonly rows: readonly RowFragment[];
  /** The keys of the page that have changed. */
  readonly changed: ReadonlySet<string>;
  /** The number of changes of keys that are not on the page. */
  readonly others: number;
}

interface Changes {
  readonly page: readonly RowFragment[];
  /** The changed keys; a deleted one is null. */
  readonly keys: ReadonlyMap<string, RowFragment | null>;
}

/** Replaces the rows of a page as changes of their keys arrive. */
export function useLiveRows(page: readonly RowFragment[], orgID: string | undefined): LiveRows {
  const client = useClient('service');
  const [changes, setChanges] = useState<Changes>({ page, keys: new Map() });
  useEffect(() => {
    const controller = new AbortController();
    const follow = async () => {
      const events = client.follow(OrgKeyRowChangedDocument, { orgID: orgID ?? null }, { signal: controller.signal });
      for await (const { data } of events) {
        if (data.orgKeyChanged.__typename !== 'OrgKeyChanged') continue;
        const { keyHash, key, entry } = data.orgKeyChanged;
        if (keyHash !== null && entry) setChanges((all) => ({ ...all, keys: new Map(all.keys).set(keyHash, key) }));
      }
    };
    // After a permanent error: the session handles a rejected credential, and the next page shows any other error.
    follow().catch(() => undefined);
    return () => controller.abort();
  }, [client, orgID]);
  useEffect(() => setChanges(({ keys }) => ({ page, keys: newerThan(page, keys) })), [page]);
  const keys: Changes['keys'] = changes.page === page ? changes.keys : new Map();
  const changed = new Set(page.flatMap(({ keyHash }) => (keys.has(keyHash) ? [keyHash] : [])));
  return {
    rows: page.map((row) => {
      const change = keys.get(row.keyHash);
      return change === null ? { ...row, state: 'DELETED' } : (change ?? row);
    }),
    changed,
    others: keys.size - changed.size,
  };
}

/** The changes that are not yet part of a page: they arrived after the service had read it. */
function newerThan(page: readonly RowFragment[], keys: Changes['keys']): Changes['keys'] {
  const versions = new Map(page.map(({ keyHash, version }) => [keyHash, version]));
  return new Map(
    [...keys].filter(([keyHash, key]) => key !== null && key.version > (versions.get(keyHash) ?? Infinity)),
  );
}
