# PerfTest, the Java client: two publishers and two consumers. The environment has all parameters.
set -eu
jars=$(cat "$CLIENTS/perf-test")
rate=$(python3 -c "print(int(1 / $PAUSE))")
confirms=
[ "$MODE" != confirms ] || confirms="-c 20"
# shellcheck disable=SC2086
exec java -cp "$jars/*" com.rabbitmq.perf.PerfTest -h "amqp://$USERNAME:$PASSWORD@$HOST:$PORT" -x 2 -y 2 -u "$QUEUE" -ad true \
    -f "" -q 50 -s "$SIZE" -r "$rate" $confirms -z "${SECONDS%.*}"
