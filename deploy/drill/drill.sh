#!/bin/sh
# Runs a service for the fault drill (docs/src/operate/drill.md): Postgres on a disk of its own, an api, workers, and
# Prometheus with the rules of this folder's neighbour. For root, on a machine for tests.
#   drill.sh up          starts everything, with two workers, and makes the keys
#   drill.sh api         starts the api again
#   drill.sh worker N    starts worker N (1 or 2) again
#   drill.sh postgres start|stop
#   drill.sh down        stops everything and removes the folder
# CLOCK, such as '+1 day', moves the clock of the process that `api` or `worker` starts (libfaketime).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${DRILL:-/tmp/akhar-drill}
akhar=${AKHAR:-$root/target/release/akhar}
prometheus=$(command -v prometheus || echo "$root/.cache/prometheus/usr/bin/prometheus")
# shellcheck disable=SC2012
programs=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb | tail -1)")

export AKHAR_DATABASE_URL=postgres://akhar@127.0.0.1:55432/postgres
export AKHAR_CONFIG="$folder/akhar.toml" AKHAR_MODELS_DIR="$root/models"
export AKHAR_ORT_DYLIB="${AKHAR_ORT_DYLIB:-$root/.cache/onnxruntime/libonnxruntime.so}"
export AKHAR_LISTEN=127.0.0.1:8090 AKHAR_METRICS_LISTEN=127.0.0.1:9470

# Starts a process with its log in the folder, and its id in a file.
start() {
    name=$1
    shift
    if [ -n "${CLOCK:-}" ]; then
        FAKETIME=$CLOCK FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1
        LD_PRELOAD=$(ls /usr/lib/*/faketime/libfaketime.so.1)
        export FAKETIME FAKETIME_DONT_FAKE_MONOTONIC DONT_FAKE_MONOTONIC LD_PRELOAD
    fi
    setsid "$@" >>"$folder/$name.log" 2>&1 &
    unset LD_PRELOAD FAKETIME
    echo $! >"$folder/$name.pid"
}

postgres() {
    su postgres -s /bin/sh -c "$programs/pg_ctl -s -w -D $folder/disk/postgres -l $folder/disk/postgres.log $*"
}

up() {
    mkdir -p "$folder/disk"
    chmod 755 "$folder"
    truncate -s 600M "$folder/disk.img"
    mkfs.ext4 -q -F "$folder/disk.img"
    mount -o loop "$folder/disk.img" "$folder/disk"
    chown postgres "$folder/disk"
    su postgres -s /bin/sh -c "$programs/initdb -D $folder/disk/postgres -U akhar -A trust" >/dev/null
    echo "port = 55432
unix_socket_directories = '$folder/disk'
max_wal_size = 64MB" >>"$folder/disk/postgres/postgresql.conf"
    postgres start
    touch "$AKHAR_CONFIG"
    "$akhar" migrate
    for name in shop press; do "$akhar" keys create --name $name >"$folder/$name.key"; done
    "$akhar" keys create --name 'night shift' --role admin >"$folder/admin.key"
    start api "$akhar" api
    AKHAR_METRICS_LISTEN=127.0.0.1:9471 start worker-1 "$akhar" worker
    AKHAR_METRICS_LISTEN=127.0.0.1:9472 start worker-2 "$akhar" worker
    cat >"$folder/prometheus.yml" <<END
global: { scrape_interval: 5s, evaluation_interval: 5s }
rule_files: [$root/deploy/prometheus/rules.yml]
scrape_configs:
  - job_name: akhar-api
    static_configs: [{ targets: ["127.0.0.1:9470"] }]
  - job_name: akhar-worker
    static_configs: [{ targets: ["127.0.0.1:9471", "127.0.0.1:9472"] }]
END
    start prometheus "$prometheus" "--config.file=$folder/prometheus.yml" "--storage.tsdb.path=$folder/prometheus" \
        --web.listen-address=127.0.0.1:9490 --log.level=warn
}

down() {
    for file in "$folder"/*.pid; do
        kill "$(cat "$file")" 2>/dev/null || true
    done
    postgres -m immediate stop || true
    umount "$folder/disk"
    rm -r "$folder"
}

case ${1:-} in
up) up ;;
api) start api "$akhar" api ;;
worker) AKHAR_METRICS_LISTEN=127.0.0.1:947$2 start "worker-$2" "$akhar" worker ;;
postgres) postgres "$2" ;;
down) down ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
