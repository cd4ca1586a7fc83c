import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A self-signed certificate for localhost, valid until 2126. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUC5+fvzq2JqaKnPAZdECuyfdJfTwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA4NDEwM1oYDzIxMjYxMDI4
MDg0MTAzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS2x/yFz1ws06WLrMj7R6QnJtwELkIRy47QjGfmsQYOmuG3+xQUqiYD
TxAnrxlJsDHNV1mngsccQrjxWL9KsNfFo28wbTAdBgNVHQ4EFgQUGGDh8N0nb9sf
+hFUfteItUyvJhowHwYDVR0jBBgwFoAUGGDh8N0nb9sf+hFUfteItUyvJhowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAIIbkCs9Ud+0WIf4SQEmK6HZpTFxt9/j2B67Umy44zc0AiBc
w0Wai1uzNqWXGNiSdbPlaAi6nU29OihA9YjT5CdOhQ==
-----END CERTIFICATE-----
`;

// For these tests only. secret-scan: fixture
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5TDtAZqnrN05Sms6
BGfNNWaz0buKqR171i1mUbLybyGhRANCAAS2x/yFz1ws06WLrMj7R6QnJtwELkIR
y47QjGfmsQYOmuG3+xQUqiYDTxAnrxlJsDHNV1mngsccQrjxWL9KsNfF
-----END PRIVATE KEY-----
`;

export interface TLSFixture {
  readonly folder: string;
  readonly certFile: string;
  readonly keyFile: string;
  remove(): void;
}

/** Writes the certificate and its key to a new folder. */
export function writeTLSFiles(): TLSFixture {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-tls-'));
  const certFile = join(folder, 'localhost.crt');
  const keyFile = join(folder, 'localhost.key');
  writeFileSync(certFile, certificate);
  writeFileSync(keyFile, key);
  return { folder, certFile, keyFile, remove: () => rmSync(folder, { recursive: true }) };
}
