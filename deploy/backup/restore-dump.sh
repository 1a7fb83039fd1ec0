#!/bin/sh
# Loads a dump into an empty database, updates its tables, and keeps it quiet: processes that are started on it run no job
# and send no webhook until `akhar database go`. Needs the program akhar, of the version that is to run.
#   AKHAR_DATABASE_URL=… restore-dump.sh DUMP
set -eu
dump=${1:?usage: restore-dump.sh DUMP}
AKHAR_DATABASE_URL=${AKHAR_DATABASE_URL:-$(cat "${AKHAR_DATABASE_URL_FILE:?set AKHAR_DATABASE_URL or AKHAR_DATABASE_URL_FILE}")}
export AKHAR_DATABASE_URL
unset AKHAR_DATABASE_URL_FILE
command -v akhar >/dev/null || { echo "restore-dump.sh: the program akhar is not in the PATH" >&2; exit 1; }
n_tables=$(psql -X -A -t --dbname "$AKHAR_DATABASE_URL" --command "select count(*) from pg_tables where schemaname = 'public'")
if [ "$n_tables" != 0 ]; then
    echo "restore-dump.sh: the database has $n_tables tables, expected none: create an empty database" >&2
    exit 1
fi
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname "$AKHAR_DATABASE_URL" "$dump"
akhar migrate
akhar database quiet
