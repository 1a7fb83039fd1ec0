#!/bin/sh
# Dumps the database into FOLDER/akhar-TIME.dump, checks that the dump can be read, and deletes dumps that are older than
# KEEP_DAYS (14). Run it from cron or a timer; it exits with 1 if anything fails. With `accounts`, the dump has the accounts
# and their keys, and neither jobs nor webhooks.
#   AKHAR_DATABASE_URL=… dump.sh FOLDER [accounts]
set -eu
folder=${1:?usage: dump.sh FOLDER [accounts]}
what=${2:-}
url=${AKHAR_DATABASE_URL:-$(cat "${AKHAR_DATABASE_URL_FILE:?set AKHAR_DATABASE_URL or AKHAR_DATABASE_URL_FILE}")}
umask 077
set --
case $what in
    '') ;;
    accounts)
        # Every table but these is empty in the dump.
        kept="'accounts', 'api_keys', 'audit', 'queue_controls', 'restores', 'schema_compatibility', '_sqlx_migrations'"
        for table in $(psql -X -A -t --dbname "$url" \
            --command "select tablename from pg_tables where schemaname = 'public' and tablename not in ($kept)"); do
            set -- "$@" "--exclude-table-data=public.$table"
        done
        [ $# -gt 0 ] || { echo "dump.sh: the database has no tables" >&2; exit 1; }
        ;;
    *) echo "dump.sh: $what is neither nothing nor accounts" >&2; exit 2 ;;
esac
mkdir -p "$folder"
name=$folder/akhar-${what:+$what-}$(date -u +%Y%m%dT%H%M%SZ).dump
trap 'rm -f "$name.part"' EXIT
pg_dump --format=custom "$@" --dbname "$url" --file "$name.part"
pg_restore --list "$name.part" >/dev/null
sync "$name.part"
mv "$name.part" "$name"
find "$folder" -maxdepth 1 -name 'akhar-*.dump' -mtime "+${KEEP_DAYS:-14}" -delete
echo "$name"
