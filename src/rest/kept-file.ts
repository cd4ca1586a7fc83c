import { answerAsset, createAsset, type Asset } from '../asset.js';

/** What is the same for everybody: made at its first use and kept. */
export interface KeptFile {
  /** Sends it, or 304 to whoever has it already. */
  readonly answer: (request: Request) => Promise<Response>;
}

/** `make` is called at the first request, and again after it has failed. */
export function createKeptFile(
  make: () => string | Promise<Uint8Array>,
  contentType: string,
  more: Readonly<Record<string, string>> = {},
): KeptFile {
  let kept: Promise<Asset> | undefined;
  const keep = async () => createAsset(contentType, await make());
  return {
    answer: async (request) => {
      kept ??= keep();
      const asset = await kept.catch((error: unknown) => {
        kept = undefined;
        throw error;
      });
      return answerAsset(asset, request, more);
    },
  };
}
