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
  /** Whether changes arrive from now on. */
  readonly isOpen: boolean;
}

interface Changes {
  readonly page: readonly RowFragment[];
  /** The changed keys; a deleted one is null. */
  readonly keys: ReadonlyMap<string, RowFragment | null>;
}

/** Replaces the rows of a page as changes of their keys arrive, while `isOn`. */
export function useLiveRows(page: readonly RowFragment[], orgID: string | undefined, isOn: boolean): LiveRows {
  const client = useClient('service');
  const [isOpen, setIsOpen] = useState(false);
  const [changes, setChanges] = useState<Changes>({ page, keys: new Map() });
  useEffect(() => {
    setIsOpen(false);
    if (!isOn) return undefined;
    const controller = new AbortController();
    const follow = async () => {
      const events = client.follow(OrgKeyRowChangedDocument, { orgID: orgID ?? null }, { signal: controller.signal });
      for await (const { data } of events) {
        setIsOpen(true);
        if (data.orgKeyChanged.__typename !== 'OrgKeyChanged') continue;
        const { keyHash, key, entry } = data.orgKeyChanged;
        if (keyHash !== null && entry) setChanges((all) => ({ ...all, keys: new Map(all.keys).set(keyHash, key) }));
      }
    };
    // After a permanent error: the session handles a rejected credential, and the next page shows any other error.
    follow().catch(() => undefined);
    return () => controller.abort();
  }, [client, orgID, isOn]);
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
    isOpen,
  };
}

/** The changes that are not yet part of a page: they arrived after the service had read it. */
function newerThan(page: readonly RowFragment[], keys: Changes['keys']): Changes['keys'] {
  const versions = new Map(page.map(({ keyHash, version }) => [keyHash, version]));
  return new Map(
    [...keys].filter(([keyHash, key]) => key !== null && key.version > (versions.get(keyHash) ?? Infinity)),
  );
}
