#!/bin/sh
# Installs a package of `make deb` in a new Debian, asks the service that it starts, upgrades, removes and purges it: deb_test.sh
# PACKAGE. Needs root. Units are only checked, because no systemd runs there.
set -eu
cd "$(dirname "$0")/.."
# In namespaces of its own: what it mounts and starts ends with it.
[ -n "${INSIDE:-}" ] || exec env INSIDE=1 unshare --mount --pid --fork sh scripts/deb_test.sh "$@"
package=$1
cache=.cache/debian

say() { printf 'deb_test: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

for unit in deploy/debian/*.service; do
    systemd-analyze security --no-pager --offline=true --threshold=25 "$PWD/$unit" >/dev/null || die "$unit is exposed too much"
done

if [ ! -e $cache/etc/debian_version ]; then
    say "installing a Debian into $cache"
    rm -rf $cache
    debootstrap --variant=minbase --include=adduser,curl,postgresql "$(. /etc/os-release && echo "$VERSION_CODENAME")" $cache >/dev/null
fi
root=$(mktemp -d)
trap 'umount "$root/proc" || true; rm -rf --one-file-system "$root"' EXIT
cp -a $cache/. "$root"
mount -t proc proc "$root/proc"
inside() { chroot "$root" "$@"; }
files() { (cd "$root" && find . -xdev -path ./proc -prune -o -path ./tmp -prune -o -path ./var/log -prune -o -path ./var/lib/dpkg -prune -o -path ./var/cache -prune -o -print | sort); }

files >"$root/tmp/before"
cp "$package" "$root/tmp/akhar.deb"
inside dpkg --install /tmp/akhar.deb >"$root/tmp/installed" 2>&1 || { cat "$root/tmp/installed" >&2; die "it cannot be installed"; }
grep --quiet 'models' "$root/tmp/installed" || die "akhar doctor did not run after the installation"
for unit in "$root"/usr/lib/systemd/system/akhar*.service; do
    inside test -x "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")" || die "$unit starts a program that is not there"
done

say "the service answers"
chroot "$root" setpriv --reuid akhar --regid akhar --init-groups --reset-env env AKHAR_CONFIG=/etc/akhar/akhar.toml AKHAR_LISTEN=127.0.0.1:0 \
    sh -c 'cd /var/lib/akhar && exec akhar serve' >"$root/tmp/served" 2>"$root/tmp/log" &
service=$!
for _ in $(seq 300); do
    address=$(sed -n 's|^listening on \(http://.*\)|\1|p' "$root/tmp/served")
    key=$(grep --only-matching --max-count=1 'ak_[A-Za-z0-9_]*' "$root/tmp/served" || true)
    [ -n "$address" ] && [ -n "$key" ] && break
    kill -0 $service 2>/dev/null || { cat "$root/tmp/log" >&2; die "the service has ended"; }
    sleep 0.1
done
asked() {
    curl --silent --fail --header "Authorization: Bearer $key" --form "file=@tests/fixtures/images/digit-5.png" \
        "$address/v1/models/digit-recognition" | grep --quiet '"੫"' || die "$1: no answer from the service at $address"
}
asked "after the installation"

say "an upgrade leaves the running service alone"
dpkg-deb --raw-extract "$root/tmp/akhar.deb" "$root/tmp/next"
sed -i 's/^Version: .*/&+1/' "$root/tmp/next/DEBIAN/control"
dpkg-deb --build -Znone "$root/tmp/next" "$root/tmp/next.deb" >/dev/null
inside dpkg --install /tmp/next.deb >/dev/null
asked "after the upgrade"
kill $service
wait $service || { cat "$root/tmp/log" >&2; die "the service did not stop in order"; }

say "a purge leaves nothing"
inside dpkg --remove akhar >/dev/null
[ -e "$root/etc/akhar/akhar.toml" ] || die "removing the package has removed its settings"
inside dpkg --purge akhar >/dev/null 2>&1
files >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" >&2 || die "files are left, or missing"
if inside getent passwd akhar; then die "its user is left"; fi
say "all passed"
