import { useEffect, useRef } from 'preact/hooks';
import { OrgKeyChangedDocument, type OrgKeyChangedSubscription } from '../client/client.js';
import { useClient } from './session.js';

/** A change of a key or a notice about it, as the service reports it. */
export type Change = Extract<
  OrgKeyChangedSubscription['orgKeyChanged'],
  { readonly __typename: 'OrgKeyChanged' | 'OrgKeyNoticed' }
>;

/** Calls `onChange` for each change of a key and each notice from now on: of one key, of one organization, or of all. */
export function useFollow(
  target: { readonly orgID?: string | null | undefined; readonly keyHash?: string },
  onChange: (change: Change) => void,
): void {
  const client = useClient('service');
  const latest = useRef(onChange);
  latest.current = onChange;
  const { orgID = null, keyHash = null } = target;
  useEffect(() => {
    const controller = new AbortController();
    const follow = async () => {
      const events = client.follow(OrgKeyChangedDocument, { orgID, keyHash }, { signal: controller.signal });
      for await (const { data } of events) {
        if (data.orgKeyChanged.__typename !== 'KeyFeedCheckpoint') latest.current(data.orgKeyChanged);
      }
    };
    // After a permanent error: the session handles a rejected credential, and the next request shows any other error.
    follow().catch(() => undefined);
    return () => controller.abort();
  }, [client, orgID, keyHash]);
}
