#!/bin/sh
# Postgres's archive_command: copies one WAL file into ARCHIVE, on another disk or machine. Postgres calls it again until it
# exits with 0, and keeps the file until then.
#   archive_command = '/opt/akhar/deploy/backup/archive-wal.sh "%p" /backup/wal "%f"'
set -eu
path=$1 archive=$2 name=$3
umask 077
if [ -e "$archive/$name" ]; then
    # The last call copied it but was not heard. Another file of this name is another server's: never overwrite it.
    cmp -s "$path" "$archive/$name" && exit 0
    echo "archive-wal.sh: $archive/$name exists and differs: two servers use this archive" >&2
    exit 1
fi
cp "$path" "$archive/.$name.part"
sync "$archive/.$name.part"
mv "$archive/.$name.part" "$archive/$name"
sync "$archive"
