#!/bin/sh
# Installs a wheel as a user without rights, where Debian's Postgres cannot be seen, and gets an answer from each
# operation: wheel_test.sh WHEEL. Needs root, or sudo, to hide Postgres and to become that user.
set -eu
cd "$(dirname "$0")/.."
root=
[ "$(id -u)" = 0 ] || root=sudo
user=nobody

# The user may not be able to enter this folder, so everything that the test reads is copied.
folder=$(mktemp -d)
trap '$root rm -rf "$folder"' EXIT
cp "$1" tests/wheel.py training/running_service.py tests/fixtures/images/digit-5.png tests/fixtures/images/letter-ka.png \
    tests/fixtures/audio/pa-school.wav tests/fixtures/audio/en-weather.wav "$folder"
$root chown -R "$user:" "$folder"

# Where there is a Postgres, an empty folder is mounted over it, in a namespace that ends with the test. Where mounts are
# forbidden, as in most containers, only root can enter its folder until the test ends.
hidden=/usr/lib/postgresql
namespace=
if [ ! -d $hidden ]; then
    hidden=
elif $root unshare --mount true 2>/dev/null; then
    namespace="unshare --mount"
else
    trap '$root chmod 755 /usr/lib/postgresql; $root rm -rf "$folder"' EXIT
    $root chmod 700 $hidden
    hidden=
fi
# pip is told by its own variables where packages are.
settings=$(env | grep -E '^(PIP_[A-Z_]+|[a-zA-Z]+_proxy|[A-Z]+_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=[^[:space:]]*$' || true)
# shellcheck disable=SC2016,SC2086
$root $namespace sh -euc '
    [ -z "$4" ] || mount -t tmpfs none "$4"
    cd "$1"
    user=$2 wheel=$3 home=$1
    shift 4
    exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups \
        env --ignore-environment "$@" HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 python3 wheel.py "$wheel"
' sh "$folder" "$user" "$(basename "$1")" "$hidden" $settings
