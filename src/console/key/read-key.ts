import { OrgKeyDetailsDocument, type Client, type OrgKeyDetailsQuery } from '../../client/client.js';
import { text } from '../strings.js';
import { required } from '../results.js';

/** A key with its live quota, its effective access and the newest part of its history. */
export type KeyDetails = NonNullable<OrgKeyDetailsQuery['orgKey']>;

const pageSize = 20;

/** Reads a key, also a deleted one, and a part of its history: the newest changes, or those before a cursor. */
export async function readKey(
  client: Client,
  keyHash: string,
  signal?: AbortSignal,
  before?: string | null,
): Promise<KeyDetails> {
  const variables = { by: { keyHash }, last: pageSize, before: before ?? null };
  const { data, errors } = await client.send(OrgKeyDetailsDocument, variables, { signal });
  return required(data.orgKey, errors, text.notFound);
}

/** What each section of the page of a key gets. */
export interface SectionProps {
  readonly found: KeyDetails;
  /** Reads the key again. */
  readonly onChanged: () => void;
}
