#!/bin/sh
# Loads a dump into an empty database. Run `akhar migrate` of your version afterwards.
#   AKHAR_DATABASE_URL=… restore-dump.sh DUMP
set -eu
dump=${1:?usage: restore-dump.sh DUMP}
url=${AKHAR_DATABASE_URL:-$(cat "${AKHAR_DATABASE_URL_FILE:?set AKHAR_DATABASE_URL or AKHAR_DATABASE_URL_FILE}")}
n_tables=$(psql -X -A -t --dbname "$url" --command "select count(*) from pg_tables where schemaname = 'public'")
if [ "$n_tables" != 0 ]; then
    echo "restore-dump.sh: the database has $n_tables tables, expected none: create an empty database" >&2
    exit 1
fi
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname "$url" "$dump"
