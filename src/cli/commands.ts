import { backup } from './backup.js';
import { check } from './check.js';
import type { Commands } from './command.js';
import { issue, list, revoke, rotate as rotateCredential } from './credentials.js';
import { exportKeys } from './export-keys.js';
import { importKeys } from './import-keys.js';
import { restore } from './restore.js';
import { prune, rotate } from './secrets.js';
import { serve } from './serve.js';

const folder = ['KEYFRONT_DATA', 'KEYFRONT_KEY_RING'];

/** All there is to call. Parsing, help and the README's block are made of this table. */
export const commands: Commands = {
  serve: {
    does: 'Serves GraphQL, the REST key API and GraphiQL until it is told to stop.',
    more: 'The first start makes a data folder, issues a management and a service credential, and shows them once. SIGTERM answers what is under way and ends it.',
    options: { sample: { is: 'Also brings in three keys to play with.' } },
    example: 'NODE_ENV=production HOST=0.0.0.0 KEYFRONT_DATA=/var/lib/keyfront keyfront serve',
    exits: { 0: 'stopped as it was told to', 1: 'could not start, or had to stop' },
    settings: [...folder, 'HOST', 'PORT', 'NODE_ENV', 'LOG_LEVEL'],
    run: serve,
  },
  'credentials issue': {
    does: 'Issues a credential and prints its secret, once.',
    more: 'The secret stands alone on standard output, so that a script can take it.',
    options: {
      kind: {
        value: 'management|service',
        is: 'What it is for: previews, or keys of organisations.',
        isRequired: true,
      },
      label: { value: 'TEXT', is: 'Who uses it.', isRequired: true },
      org: { value: 'ID', is: 'The one organisation that it is bound to; none where absent.' },
      expires: { value: '90d', is: 'After how many hours (h), days (d) or weeks (w) it ends; never where absent.' },
    },
    example: 'keyfront credentials issue --kind service --label "billing dashboard" --org acme --expires 90d',
    settings: folder,
    run: issue,
  },
  'credentials list': {
    does: 'Lists all credentials: their state, last four characters and last use, never their secrets.',
    example: 'keyfront credentials list',
    settings: folder,
    run: list,
  },
  'credentials rotate': {
    does: 'Issues a successor of a credential and lets the old one go on for an overlap.',
    words: ['ID'],
    options: { overlap: { value: '24h', is: 'For how long the old one goes on; 0 for not at all. Default: 24h.' } },
    example: 'keyfront credentials rotate 6Wm2hJ --overlap 7d',
    settings: folder,
    run: rotateCredential,
  },
  'credentials revoke': {
    does: 'Revokes a credential: running services refuse it from the next request on.',
    words: ['ID'],
    example: 'keyfront credentials revoke 6Wm2hJ',
    exits: { 1: 'there is no such credential' },
    settings: folder,
    run: revoke,
  },
  'keys import': {
    does: 'Brings keys in from a file, a line each.',
    more: 'A line is `{"key_id": "...", ...definition}` in the names of REST. A bad line is named by its number and left out, a key that exists is left as it is, and every key needs an owner.',
    words: ['FILE.jsonl'],
    options: {
      org: { value: 'ID', is: 'The owner of keys whose line names none.' },
      'passwords-are-hashed': { is: 'Passwords in the file are bcrypt or argon2id hashes, and are kept as they are.' },
    },
    example: 'keyfront keys import keys.jsonl --org acme',
    exits: { 1: 'a line was refused; the others are in' },
    settings: folder,
    run: importKeys,
  },
  'keys export': {
    does: 'Prints all keys that are not deleted, a line each, in the form that `keys import` takes.',
    options: { 'with-secrets': { is: 'Secrets in clear, and hashes of passwords: keep the file safe.' } },
    example: 'keyfront keys export > keys.jsonl',
    settings: folder,
    run: exportKeys,
  },
  backup: {
    does: 'Copies the database into a new folder while services go on, and looks through the copy.',
    more: 'The key ring is not in it. Keep a copy of it apart from the backups: nothing in them opens without it.',
    words: ['DIR'],
    example: 'keyfront backup /mnt/backups/2026-11-21',
    settings: folder,
    run: backup,
  },
  restore: {
    does: 'Puts a backup into an empty data folder, which holds the key ring only, and looks through it.',
    words: ['DIR'],
    example: 'KEYFRONT_DATA=/var/lib/keyfront keyfront restore /mnt/backups/2026-11-21',
    settings: folder,
    run: restore,
  },
  check: {
    does: 'Looks whether the file, every row, every history and every sealed secret are as they were written.',
    more: 'Changes nothing; services may run meanwhile.',
    example: 'keyfront check',
    exits: { 0: 'all is as it was written', 1: 'something is not, and is named' },
    settings: folder,
    run: check,
  },
  'secrets rotate': {
    does: 'Adds a fresh key to the key ring and seals everything under it; services may run meanwhile.',
    more: 'May be broken off and run again.',
    example: 'keyfront secrets rotate',
    settings: folder,
    run: rotate,
  },
  'secrets prune': {
    does: 'Drops the keys of the key ring under which nothing is sealed any more, some minutes after a rotation.',
    example: 'keyfront secrets prune',
    settings: folder,
    run: prune,
  },
};
