#!/bin/sh
# Makes the passwords that docker-compose.yml mounts, as files in the folder secrets. Keeps those that exist: the password
# of Postgres is in its volume too.
set -eu
cd "$(dirname "$0")"
# The folder keeps other users of this machine out. The files are readable, because a container's user has another number.
mkdir -p secrets
chmod 700 secrets
umask 022

password() { # NAME
    test -s "secrets/$1" || od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"secrets/$1"
}
password postgres_password
password grafana_password
# That of the mail server is the operator's.
test -e secrets/smtp_password || : >secrets/smtp_password
printf 'postgres://akhar:%s@postgres/akhar' "$(cat secrets/postgres_password)" >secrets/database_url
echo "the passwords are in $PWD/secrets" >&2
