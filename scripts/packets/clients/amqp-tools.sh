# Debian's amqp-tools, of the C client: a program for each of a few messages, and one that consumes. The environment has
# all parameters.
set -eu
login="--server=$HOST --port=$PORT --username=$USERNAME --password=$PASSWORD"
body=$(head -c "$SIZE" /dev/zero | tr '\0' x)
# shellcheck disable=SC2086
{
    amqp-declare-queue $login -q "$QUEUE" >/dev/null
    for _ in $(seq 10); do
        amqp-publish $login -r "$QUEUE" -b "$body"
        sleep "$(python3 -c "print($SECONDS / 10)")"
    done
    amqp-consume $login -q "$QUEUE" -p 50 -c 10 cat >/dev/null
    amqp-delete-queue $login -q "$QUEUE" >/dev/null
}
