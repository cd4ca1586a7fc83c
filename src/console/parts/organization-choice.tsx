import { OrganizationsDocument } from '../../client/client.js';
import { nodesOf } from '../results.js';
import { navigate } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useLoad } from '../use-load.js';

interface OrganizationChoiceProps {
  readonly orgID: string | undefined;
  /** The organizations on the page: one whose keys are all deleted is not in the list of organizations. */
  readonly shown: readonly string[];
  /** The address of the page with one organization, or with all. */
  readonly addressOf: (orgID: string | undefined) => string;
}

/** Restricts a page to one organization, unless the credential is. */
export function OrganizationChoice({ orgID, shown, addressOf }: OrganizationChoiceProps) {
  const client = useClient('service');
  const { viewer } = useSession();
  const known = useLoad(
    async (signal) => {
      const { data } = await client.send(OrganizationsDocument, { first: 100 }, { signal });
      return nodesOf(data.organizations).map((one) => one.id);
    },
    [client],
  );
  if (viewer?.orgID != null) return null;
  const options = [...new Set([...(known.data ?? []), ...shown, ...(orgID === undefined ? [] : [orgID])])].toSorted();
  return (
    <label class="inline">
      {text.organization.filter}
      <select onChange={({ currentTarget: { value } }) => navigate(addressOf(value === '' ? undefined : value))}>
        <option value="" selected={orgID === undefined}>
          {text.organization.all}
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
