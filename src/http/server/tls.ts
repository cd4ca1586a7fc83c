import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** The two files of a server that speaks TLS, both PEM. */
export interface TLSFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Reads what a TLS server needs. Throws an Error that names the file, or the two that do not fit. */
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

function readPEM(file: string, what: string, form: RegExp): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw new Error(`TLS: the ${what} ${file} cannot be read (${code}).`, { cause });
  }
  if (!form.test(text)) throw new Error(`TLS: the file ${file} holds no ${what} in PEM form.`);
  return text;
}
