import { isFormValues, type FormValues } from './form-values.js';

/** The value if it is a text, and an empty text otherwise. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/** Writes allowed paths as lines such as "GET, POST /invoices/.*". */
export function pathsToText(urls: unknown): string {
  const lines = (Array.isArray(urls) ? urls : []).filter(isFormValues);
  return lines
    .map(({ methods, url }) => [textsOf(methods).join(', '), textOf(url)].filter((part) => part !== '').join(' '))
    .join('\n');
}

/** Reads lines of allowed paths. */
export function textToPaths(text: string): readonly FormValues[] | undefined {
  const urls = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line): FormValues => {
      const [, listed = '', url = ''] = /^((?:[A-Za-z]+(?:\s*,\s*|\s+))*)(.*)$/.exec(line) ?? [];
      const methods = listed.split(/[\s,]+/).filter((method) => method !== '');
      return { ...(methods.length > 0 && { methods: methods.map((method) => method.toUpperCase()) }), url };
    });
  return urls.length > 0 ? urls : undefined;
}
