import { shortHash } from '../format.js';
import { keyAddress } from '../key-address.js';
import { Link } from '../router.js';
import { useSession } from '../session.js';

/** A key by its hash, with a link to its page for whoever may read keys. */
export function KeyLink({ keyHash }: { readonly keyHash: string }) {
  const { can } = useSession();
  const shown = shortHash(keyHash);
  if (!can('READ')) return <code title={keyHash}>{shown}</code>;
  return (
    <Link to={keyAddress(keyHash)} title={keyHash}>
      {shown}
    </Link>
  );
}
