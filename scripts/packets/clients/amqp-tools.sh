# Debian's amqp-tools, of C's client: a line for each message; all it needs is in the environment.
set -eu
login="--server=$HOST --port=$PORT --username=$USERNAME --password=$PASSWORD"
count=$(python3 -c "print(int($SECONDS / $PAUSE / 2))")
# shellcheck disable=SC2086
amqp-declare-queue $login -q "$QUEUE" >/dev/null
line=$(head -c "$SIZE" /dev/zero | tr '\0' x)
# shellcheck disable=SC2086
for _ in $(seq "$count"); do echo "$line"; sleep "$PAUSE"; done | amqp-publish $login -r "$QUEUE" -l
# shellcheck disable=SC2086
amqp-consume $login -q "$QUEUE" -p 50 -c "$count" true
# shellcheck disable=SC2086
amqp-delete-queue $login -q "$QUEUE" >/dev/null
