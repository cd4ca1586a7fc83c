#!/bin/sh
# Backs up Keyfront into a new folder below $BACKUPS, then deletes backups that are older than $KEEP_DAYS days.
# Deletes nothing if the backup fails. The backup does not contain key-ring.json: keep a copy of it elsewhere.
set -eu
export KEYFRONT_DATA="${KEYFRONT_DATA:-/var/lib/keyfront/data}"
backups=${BACKUPS:-/var/backups/keyfront}
keep=${KEEP_DAYS:-30}
program=${PROGRAM:-/opt/keyfront}
# The Node that `npm ci` installs in a clone if that of the machine is too old.
PATH=$program/node_modules/.bin:$PATH

folder=$backups/$(date -u +%Y-%m-%dT%H%M%SZ)
node "$program/dist/main.js" backup "$folder"
find "$backups" -mindepth 1 -maxdepth 1 -type d -name '20??-??-??T??????Z' -mtime "+$keep" -exec rm -r {} +
