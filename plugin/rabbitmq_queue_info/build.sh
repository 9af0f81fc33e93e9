#!/bin/sh
# Builds the plugin with the Erlang and against the RabbitMQ of this machine.
#
#     plugin/rabbitmq_queue_info/build.sh DIRECTORY
#
# writes DIRECTORY/rabbitmq_queue_info-VERSION.ez. Copy it to the broker's plugin directory.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh DIRECTORY}
libraries=
for found in /usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins; do
    [ -d "$found" ] && libraries=$found
done
[ -n "$libraries" ] || {
    echo "build: no RabbitMQ in /usr/lib/rabbitmq/lib" >&2
    exit 1
}
version=$(sed -n 's/.*{vsn, "\(.*\)"}.*/\1/p' "$here/src/rabbitmq_queue_info.app.src")
name=rabbitmq_queue_info-$version
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/ebin"
ERL_LIBS=$libraries erlc -Werror +debug_info -o "$work/$name/ebin" "$here"/src/*.erl
cp "$here/src/rabbitmq_queue_info.app.src" "$work/$name/ebin/rabbitmq_queue_info.app"
cd "$work"
erl -noinput -boot start_clean -eval "
    {ok, _} = zip:create(\"$out/$name.ez\", [\"$name\"]), halt()."
echo "$out/$name.ez"
