import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { explainSystemError } from '../../lib/system-error.js';

/** The certificate and the private key of a TLS server, both in PEM. */
export interface TLSFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * Reads the certificate and the private key.
 *
 * @throws {Error} when a file cannot be read, is not PEM, or the key does not match the certificate; names the file
 */
export function readTLS({ certFile, keyFile }: TLSFiles): SecureContextOptions {
  const cert = readPEM(certFile, 'certificate', /-----BEGIN CERTIFICATE-----/);
  const key = readPEM(keyFile, 'private key', /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/);
  const options = { cert, key, minVersion: 'TLSv1.2' } as const;
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new Error(
      `TLS: the private key ${keyFile} does not belong to the certificate ${certFile}, or one of them cannot be used.`,
      { cause },
    );
  }
  return options;
}

function readPEM(file: string, label: string, pattern: RegExp): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`TLS: the ${label} ${file} cannot be read: ${explainSystemError(cause)}.`, { cause });
  }
  if (!pattern.test(text)) throw new Error(`TLS: the file ${file} contains no ${label} in PEM.`);
  return text;
}
