#!/bin/sh
# Installs the clients of scripts/packets, from package registries and from Debian, into DIRECTORY.
#
#   scripts/packets/clients/install.sh DIRECTORY
#
# Unavailable clients are left out; scripts/packets lists the ones that it used.
set -u
directory=${1:?usage: install.sh DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory/node" "$directory/go"
command -v ruby >/dev/null && command -v php >/dev/null && command -v amqp-publish >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ruby ruby-bunny php-cli php-amqplib amqp-tools
[ -x "$directory/py/bin/python" ] || python3 -m venv "$directory/py"
"$directory/py/bin/pip" install --quiet pika aio-pika kombu paho-mqtt rstream stomp.py
npm install --silent --prefix "$directory/node" amqplib rhea mqtt
cp "$here/client.go" "$directory/go/main.go"
(cd "$directory/go" && { [ -f go.mod ] || go mod init client; } && go get github.com/rabbitmq/amqp091-go@latest && go build -o client .)
(cd "$here/../../.." && scripts/perf-test.sh >"$directory/perf-test" 2>/dev/null) || rm -f "$directory/perf-test"
