#!/bin/sh
# Makes a base backup in FOLDER/TIME, checks it, and deletes base backups except the newest KEEP (7). The WAL that they need
# afterwards is archived by archive-wal.sh; what is older than the oldest backup is deleted from the folder ARCHIVE, if that
# is set. Run it once a day on the machine that keeps the backups.
#   base.sh FOLDER [OPTIONS OF pg_basebackup, such as --host and --username]
set -eu
folder=${1:?usage: base.sh FOLDER [OPTIONS OF pg_basebackup]}
shift
umask 077
mkdir -p "$folder"
name=$folder/$(date -u +%Y%m%dT%H%M%SZ)
trap 'rm -rf "$name.part"' EXIT
# With the WAL that is written meanwhile, so that each backup can also be restored without the archive.
pg_basebackup --pgdata "$name.part" --format=plain --wal-method=stream --checkpoint=fast --no-password "$@"
# Debian keeps this program off the PATH.
verify=$(command -v pg_verifybackup || ls -d /usr/lib/postgresql/*/bin/pg_verifybackup | tail -n 1)
"$verify" --quiet "$name.part"
mv "$name.part" "$name"
find "$folder" -mindepth 1 -maxdepth 1 -type d -name '*Z' | sort -r | tail -n "+$((${KEEP:-7} + 1))" |
    while read -r old; do rm -rf "$old"; done
if [ -n "${ARCHIVE:-}" ]; then
    oldest=$(find "$folder" -mindepth 1 -maxdepth 1 -type d -name '*Z' | sort | head -n 1)
    clean=$(command -v pg_archivecleanup || ls -d /usr/lib/postgresql/*/bin/pg_archivecleanup | tail -n 1)
    "$clean" "$ARCHIVE" "$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$oldest/backup_label")"
fi
echo "$name"
