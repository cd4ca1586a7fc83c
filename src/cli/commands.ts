import { backup } from './commands/backup.js';
import { diff, put, reset, revert } from './commands/change.js';
import { check } from './commands/check.js';
import type { Commands, Option } from './command.js';
import { connectionOptions } from './key-client/connection.js';
import { issue, list, revoke, rotate as rotateCredential } from './commands/credentials.js';
import { discardKey } from './commands/discard.js';
import { exportKeys } from './commands/export.js';
import { importKeys } from './commands/import.js';
import { migrateStore } from './commands/migrate-store.js';
import { preview } from './commands/preview.js';
import { get, history } from './commands/read.js';
import { restore } from './commands/restore.js';
import { prune, rotate } from './commands/secrets.js';
import { outputOptions } from './output/format.js';
import {
  addOne,
  discardDead,
  listAll,
  listDead,
  pauseOne,
  removeOne,
  replayDead,
  resumeOne,
  rotateSecret,
  testOne,
} from './commands/webhooks.js';
import { keyOptions } from './key-client/run-key-command.js';

const folder = ['KEYFRONT_DATA', 'KEYFRONT_KEY_RING', 'KEYFRONT_DATABASE_URL'];
const colours = ['NO_COLOR', 'FORCE_COLOR'];
const network = ['KEYFRONT_URL', 'KEYFRONT_SERVICE_CREDENTIAL', 'NODE_EXTRA_CA_CERTS'];
const either = [...network, ...folder, ...colours];

const whereItIs =
  'The key is that of the data folder, where a service may be running meanwhile, or of the service at --url. On a terminal the answer is text, else JSON.';
const whatItTakes = `FILE holds the definition in the names of REST; \`-\` is what is piped in. ${whereItIs}`;
const trouble = 'wrongly called, or the key could not be looked at: no file, no service, no valid credential';
const changeExits = { 0: 'done', 1: 'refused, with the reasons', 2: trouble };

const expected: Option = { value: 'N', description: 'Refuse where the key has another version by now.' };
const why: Option = { value: 'TEXT', description: 'Why, for the history; no secrets.' };
const oneEvent: Option = { value: 'ID', description: 'This dead letter alone; all of the webhook where absent.' };
const noSuchWebhook = { 1: 'there is no such webhook' };
const noSuchLetter = { 1: 'there is no such webhook, or no such dead letter' };
const resetToo: Option = { description: 'The live quota begins anew with it.' };

/** All there is to call. Parsing, help and the README's block are made of this table. */
export const commands: Commands = {
  serve: {
    summary: 'Serves GraphQL, the REST key API and GraphiQL until it is stopped.',
    description:
      'The first start makes a data folder, issues a management and a service credential, and shows them once. SIGTERM answers what is under way and ends it.',
    options: {
      sample: { description: 'Also brings in three keys to play with.' },
      'allow-migrated': {
        description: 'Serve a data folder although `migrate-store` has copied it to a database server.',
      },
      'allow-new': {
        description: 'Create a new installation in an empty database although the data folder holds one.',
      },
      workers: {
        value: 'N',
        description: 'Serves by so many processes, up to 64, of which one at a time writes to a file. Default: 1.',
      },
    },
    example: 'NODE_ENV=production HOST=0.0.0.0 KEYFRONT_DATA=/var/lib/keyfront keyfront serve',
    exitCodes: { 0: 'stopped as it was told to', 1: 'could not start, or had to stop' },
    environment: [...folder, 'HOST', 'PORT', 'NODE_ENV', 'LOG_LEVEL'],
    // The server is most of the code, and no other command should wait until it is loaded.
    run: async (io, values) => (await import('./server/serve.js')).serve(io, values),
  },
  'credentials issue': {
    summary: 'Issues a credential and prints its secret, once.',
    description: 'The secret stands alone on standard output, so that a script can take it.',
    options: {
      kind: {
        value: 'management|service',
        description: 'What it is for: previews, or keys of organisations.',
        isRequired: true,
      },
      label: { value: 'TEXT', description: 'Who uses it.', isRequired: true },
      org: { value: 'ID', description: 'The one organisation that it is bound to; none where absent.' },
      expires: {
        value: '90d',
        description: 'After how many hours (h), days (d) or weeks (w) it ends; never where absent.',
      },
    },
    example: 'keyfront credentials issue --kind service --label "billing dashboard" --org acme --expires 90d',
    environment: folder,
    run: issue,
  },
  'credentials list': {
    summary: 'Lists all credentials: their state, last four characters and last use, never their secrets.',
    example: 'keyfront credentials list',
    environment: folder,
    run: list,
  },
  'credentials rotate': {
    summary: 'Issues a successor of a credential and lets the old one go on for an overlap.',
    arguments: ['ID'],
    options: {
      overlap: { value: '24h', description: 'For how long the old one goes on; 0 for not at all. Default: 24h.' },
    },
    example: 'keyfront credentials rotate 6Wm2hJ --overlap 7d',
    environment: folder,
    run: rotateCredential,
  },
  'credentials revoke': {
    summary: 'Revokes a credential: running services refuse it from the next request on.',
    arguments: ['ID'],
    example: 'keyfront credentials revoke 6Wm2hJ',
    exitCodes: { 1: 'there is no such credential' },
    environment: folder,
    run: revoke,
  },
  'webhooks add': {
    summary: 'Has changes of keys sent to a receiver, signed, and prints the secret that signs them, once.',
    description:
      'The secret stands alone on standard output, in the form of Standard Webhooks (whsec_…). KEYFRONT_WEBHOOKS_TO says how near a receiver may be.',
    options: {
      url: { value: 'URL', description: 'Where to send them; `-` is what is piped in.', isRequired: true },
      org: { value: 'ID', description: 'Only send changes of the keys of this organisation (default: all).' },
      label: { value: 'TEXT', description: 'What it is for.' },
    },
    example: 'keyfront webhooks add --url https://hooks.example.com/keys --org acme --label "billing"',
    environment: [...folder, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV'],
    run: addOne,
  },
  'webhooks list': {
    summary: 'Lists all webhooks with what waits and what was given up, without paths, queries and secrets.',
    description: 'On a terminal the answer is text, else a line of JSON for each.',
    options: outputOptions,
    example: 'keyfront webhooks list',
    exitCodes: { 3: 'done except for damaged rows, which are named' },
    environment: folder,
    run: listAll,
  },
  'webhooks test': {
    summary: 'Sends a signed ping at once and tells what the receiver answered.',
    arguments: ['ID'],
    example: 'keyfront webhooks test hook_4be1c2a09f7d3356',
    exitCodes: { 1: 'there is no such webhook, or it did not answer 2xx' },
    environment: [...folder, 'KEYFRONT_WEBHOOKS_TO', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS'],
    run: testOne,
  },
  'webhooks pause': {
    summary: 'Sends nothing to a webhook until it is resumed; what is changed meanwhile is sent then.',
    arguments: ['ID'],
    example: 'keyfront webhooks pause hook_4be1c2a09f7d3356',
    exitCodes: noSuchWebhook,
    environment: folder,
    run: pauseOne,
  },
  'webhooks resume': {
    summary: 'Resumes a paused webhook from where it stopped.',
    arguments: ['ID'],
    example: 'keyfront webhooks resume hook_4be1c2a09f7d3356',
    exitCodes: noSuchWebhook,
    environment: folder,
    run: resumeOne,
  },
  'webhooks rotate': {
    summary: 'Gives a webhook a new secret and signs with the old one too for an overlap.',
    arguments: ['ID'],
    options: {
      overlap: { value: '24h', description: 'For how long the old one signs too; 0 for not at all. Default: 24h.' },
    },
    example: 'keyfront webhooks rotate hook_4be1c2a09f7d3356 --overlap 7d',
    exitCodes: noSuchWebhook,
    environment: folder,
    run: rotateSecret,
  },
  'webhooks remove': {
    summary: 'Removes a webhook, with what waits for it and what was given up.',
    arguments: ['ID'],
    example: 'keyfront webhooks remove hook_4be1c2a09f7d3356',
    exitCodes: noSuchWebhook,
    environment: folder,
    run: removeOne,
  },
  'webhooks dead': {
    summary: 'Lists the dead letters of a webhook: events that were given up, the oldest first.',
    description: 'On a terminal the answer is text, else a line of JSON for each.',
    arguments: ['ID'],
    options: outputOptions,
    example: 'keyfront webhooks dead hook_4be1c2a09f7d3356',
    exitCodes: noSuchWebhook,
    environment: folder,
    run: listDead,
  },
  'webhooks replay': {
    summary: 'Has dead letters sent again, each with its own identifier; later events may have gone before them.',
    arguments: ['ID'],
    options: { event: oneEvent },
    example: 'keyfront webhooks replay hook_4be1c2a09f7d3356',
    exitCodes: noSuchLetter,
    environment: folder,
    run: replayDead,
  },
  'webhooks discard': {
    summary: 'Deletes dead letters.',
    arguments: ['ID'],
    options: { event: oneEvent },
    example: 'keyfront webhooks discard hook_4be1c2a09f7d3356',
    exitCodes: noSuchLetter,
    environment: folder,
    run: discardDead,
  },
  'keys import': {
    summary: 'Brings keys in from a file, a line each.',
    description:
      'A line is `{"key_id": "...", ...definition}` in the names of REST. A bad line is named by its number and left out, a key that exists is left as it is, and every key needs an owner.',
    arguments: ['FILE.jsonl'],
    options: {
      org: { value: 'ID', description: 'The owner of keys whose line names none.' },
      'passwords-are-hashed': {
        description: 'Passwords in the file are bcrypt or argon2id hashes, and are kept as they are.',
      },
    },
    example: 'keyfront keys import keys.jsonl --org acme',
    exitCodes: { 1: 'a line was refused; the others are in' },
    environment: folder,
    run: importKeys,
  },
  'keys export': {
    summary: 'Prints all keys that are not deleted, a line each, in the form that `keys import` takes.',
    options: { 'with-secrets': { description: 'Secrets in clear, and hashes of passwords: keep the file safe.' } },
    example: 'keyfront keys export > keys.jsonl',
    exitCodes: { 3: 'damaged keys were left out and named; the others are printed' },
    environment: folder,
    run: exportKeys,
  },
  'keys discard': {
    summary: 'Removes a key that fails the integrity check, with its history, for good.',
    description:
      'For a damaged key without a backup: nothing else can change it, and its hash cannot be used again until then. An intact key is refused. The attempt is written to the audit log, on standard error.',
    arguments: ['HASH'],
    options: { yes: { description: 'Confirms that the key and its history are removed for good.', isRequired: true } },
    example: 'keyfront keys discard 6fdc…e1 --yes',
    exitCodes: { 1: 'there is no such key, or it is intact' },
    environment: folder,
    run: discardKey,
  },
  preview: {
    summary: 'Checks definitions and tells every problem with its place, without storing anything.',
    description:
      'Needs no data folder and no network: the rules are those of this version, the way of hashing that of KEYFRONT_KEY_HASH. With --url a running service is asked. FILE holds a definition in the names of REST, an array of them or, as .jsonl, a line each; `-` is what is piped in. On a terminal the answer is text, else a line of JSON for each definition.',
    arguments: ['FILE...'],
    options: {
      strict: { description: 'Warnings count as problems.' },
      url: { value: 'URL', description: 'Ask the service at this address.' },
      ...connectionOptions,
      ...outputOptions,
    },
    example: 'keyfront preview --strict keys/billing.json keys/mobile.json',
    exitCodes: {
      0: 'all are valid',
      1: 'a definition is not valid',
      2: 'wrongly called, or a file or the service could not be read',
    },
    environment: [
      'KEYFRONT_KEY_HASH',
      'KEYFRONT_KEY_HASH_PEPPER',
      'KEYFRONT_MANAGEMENT_CREDENTIAL',
      'NODE_EXTRA_CA_CERTS',
      ...colours,
    ],
    run: preview,
    errorExitCode: 2,
  },
  get: {
    summary: 'Prints the definition of a key in the form that `put` takes, without its secrets.',
    description: whereItIs,
    arguments: ['[KEY_ID]'],
    options: keyOptions,
    example: 'keyfront get acme-billing > billing.json',
    exitCodes: { 1: 'there is no such key', 2: trouble },
    environment: either,
    run: get,
    errorExitCode: 2,
  },
  diff: {
    summary: 'Tells what an update with this definition would change now, field by field, and changes nothing.',
    description: whatItTakes,
    arguments: ['[KEY_ID]', 'FILE'],
    options: { 'reset-quota': resetToo, ...keyOptions },
    example: 'keyfront diff acme-billing billing.json --url https://keys.example.com',
    exitCodes: { 0: 'nothing would change', 1: 'something would', 2: `refused, ${trouble}` },
    environment: either,
    run: diff,
    errorExitCode: 2,
  },
  put: {
    summary: 'Replaces the definition of a key, except for secrets that the new one leaves out.',
    description: whatItTakes,
    arguments: ['[KEY_ID]', 'FILE'],
    options: {
      'reset-quota': resetToo,
      'expected-version': expected,
      create: { description: 'Create the key where there is none; FILE then names its owner in org_id.' },
      reason: why,
      ...keyOptions,
    },
    example: 'keyfront put acme-billing billing.json --expected-version 3 --reason "raised limits, OPS-17"',
    exitCodes: changeExits,
    environment: either,
    run: put,
    errorExitCode: 2,
  },
  reset: {
    summary: 'Resets the live quota of a key and leaves its definition as it is.',
    description: whereItIs,
    arguments: ['[KEY_ID]'],
    options: { reason: why, ...keyOptions },
    example: 'keyfront reset acme-billing --reason "paid in advance"',
    exitCodes: changeExits,
    environment: either,
    run: reset,
    errorExitCode: 2,
  },
  history: {
    summary: 'Prints what has been done to a key, the newest first.',
    description: whereItIs,
    arguments: ['[KEY_ID]'],
    options: { limit: { value: 'N', description: 'How many entries, at most 100. Default: 20.' }, ...keyOptions },
    example: 'keyfront history acme-billing --limit 5',
    exitCodes: { 1: 'there is no such key', 2: trouble },
    environment: either,
    run: history,
    errorExitCode: 2,
  },
  revert: {
    summary: 'Puts the definition of an earlier version back, as a new version; secrets and the live quota stay.',
    description: whereItIs,
    arguments: ['[KEY_ID]'],
    options: {
      to: { value: 'VERSION', description: 'The version whose definition is wanted.', isRequired: true },
      'expected-version': expected,
      reason: why,
      ...keyOptions,
    },
    example: 'keyfront revert acme-billing --to 2',
    exitCodes: changeExits,
    environment: either,
    run: revert,
    errorExitCode: 2,
  },
  backup: {
    summary: 'Copies the database into a new folder while services go on, and looks through the copy.',
    description:
      'Opens read-only. The key ring is not in it. Keep a copy of it apart from the backups: nothing in them opens without it.',
    arguments: ['DIR'],
    example: 'keyfront backup /mnt/backups/2026-11-21',
    environment: folder,
    run: backup,
  },
  restore: {
    summary: 'Puts a backup into an empty data folder, which holds the key ring only, and looks through it.',
    arguments: ['DIR'],
    example: 'KEYFRONT_DATA=/var/lib/keyfront keyfront restore /mnt/backups/2026-11-21',
    environment: folder,
    run: restore,
  },
  'migrate-store': {
    summary: 'Moves all of the data folder into the PostgreSQL database that KEYFRONT_DATABASE_URL names.',
    description:
      'Stop the service first: no other process can write to the file meanwhile. Every row is read back; the file keeps its rows and is marked, so that services refuse to start on it (`serve --allow-migrated` permits it). May be interrupted and run again; once complete, it exits with 0 and says so.',
    example: 'KEYFRONT_DATABASE_URL=postgres://keyfront@db.internal/keyfront keyfront migrate-store',
    environment: folder,
    run: migrateStore,
  },
  check: {
    summary: 'Verifies the database file, every row, every history and every sealed secret.',
    description:
      'Opens read-only and creates, migrates and changes nothing; services may run meanwhile. Exits with 1 when there is no installation.',
    example: 'keyfront check',
    exitCodes: { 0: 'no problem found', 1: 'problems found and named, or no installation' },
    environment: folder,
    run: check,
  },
  'secrets rotate': {
    summary: 'Adds a fresh key to the key ring and seals everything under it; services may run meanwhile.',
    description:
      'May be interrupted and run again: an incomplete rotation is continued, and adds no further key to the ring.',
    example: 'keyfront secrets rotate',
    exitCodes: { 3: 'done except for damaged rows, which are named; run it again once they are repaired or discarded' },
    environment: folder,
    run: rotate,
  },
  'secrets prune': {
    summary: 'Drops the keys of the key ring under which nothing is sealed any more, some minutes after a rotation.',
    example: 'keyfront secrets prune',
    exitCodes: { 3: 'done; damaged rows were skipped and named' },
    environment: folder,
    run: prune,
  },
};
