import { deserialize, serialize } from 'node:v8';
import type { Sealer } from '../../crypto/encryption.js';
import type { ProposedRequest, RequestCodec } from '../../keys/proposals/request.js';

/** The associated data of the sealed request of a proposal. */
export function aadOfRequest(proposalID: string): string {
  return `proposals|${proposalID}|request`;
}

/** Seals requests with the structured clone algorithm, which keeps large integers. */
export function createRequestCodec({ seal, open }: Pick<Sealer, 'seal' | 'open'>): RequestCodec {
  return {
    seal: (request, proposalID) => seal(serialize(request).toString('base64'), aadOfRequest(proposalID)),
    // Only texts that this service has sealed open.
    open: (sealed, proposalID) =>
      deserialize(Buffer.from(open(sealed, aadOfRequest(proposalID)), 'base64')) as ProposedRequest,
  };
}
