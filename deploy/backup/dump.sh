#!/bin/sh
# Dumps the database into FOLDER/akhar-TIME.dump, checks that the dump can be read, and deletes dumps that are older than
# KEEP_DAYS (14). Run it from cron or a timer; it exits with 1 if anything fails.
#   AKHAR_DATABASE_URL=… dump.sh FOLDER
set -eu
folder=${1:?usage: dump.sh FOLDER}
url=${AKHAR_DATABASE_URL:-$(cat "${AKHAR_DATABASE_URL_FILE:?set AKHAR_DATABASE_URL or AKHAR_DATABASE_URL_FILE}")}
umask 077
mkdir -p "$folder"
name=$folder/akhar-$(date -u +%Y%m%dT%H%M%SZ).dump
trap 'rm -f "$name.part"' EXIT
pg_dump --format=custom --dbname "$url" --file "$name.part"
pg_restore --list "$name.part" >/dev/null
sync "$name.part"
mv "$name.part" "$name"
find "$folder" -maxdepth 1 -name 'akhar-*.dump' -mtime "+${KEEP_DAYS:-14}" -delete
echo "$name"
