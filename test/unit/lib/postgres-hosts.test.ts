import { expect, it } from 'vitest';
import { urlsOfHosts } from '../../../src/lib/postgres-hosts.js';

it.each([
  ['postgres://host/keyfront', ['postgres://host/keyfront']],
  [
    'postgresql://u:p,%40w@a:1,b:2/db?options=-c%20x=1,2',
    ['postgresql://u:p,%40w@a:1/db?options=-c%20x=1,2', 'postgresql://u:p,%40w@b:2/db?options=-c%20x=1,2'],
  ],
  ['postgres://[::1]:5432,[::2]/db', ['postgres://[::1]:5432/db', 'postgres://[::2]/db']],
  ['redis://a,b', ['redis://a,b']],
])('splits %s into one URL per host', (url, urls) => {
  expect(urlsOfHosts(url)).toEqual(urls);
});
