#!/bin/sh
# Makes a data folder out of a base backup and the archived WAL. Postgres replays the WAL when it is started on it, up to
# TIME or to the end of the archive, and is then a normal server. Run it as the user who runs Postgres. Its database is quiet:
# processes that are started on it run no job and send no webhook until `akhar database go`.
#   restore-base.sh BASE ARCHIVE DATA [TIME]    TIME such as '2026-11-23 12:00:00+00'
set -eu
usage='usage: restore-base.sh BASE ARCHIVE DATA [TIME]'
base=${1:?$usage} archive=${2:?$usage} data=${3:?$usage} time=${4:-}
if [ -e "$data" ] && [ -n "$(ls -A "$data")" ]; then
    echo "restore-base.sh: $data is not empty: move the old data away first" >&2
    exit 1
fi
umask 077
mkdir -p "$data"
cp -R "$base/." "$data"
{
    echo "restore_command = 'cp \"$archive/%f\" \"%p\"'"
    # A server that is only tried must not write into the archive of the other one.
    echo "archive_mode = off"
    # The database is quiet until `akhar database go` has seen this restore.
    echo "akhar.restored = 'base $(date -u +%Y%m%dT%H%M%SZ)'"
    if [ -n "$time" ]; then
        echo "recovery_target_time = '$time'"
        echo "recovery_target_action = promote"
    fi
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
