"""The planted cases: what limits the node in truth, and the change without which it would not."""

import dataclasses

import plants
from brokers import Spec, release


@dataclasses.dataclass(frozen=True)
class Case:
    """A planted case.

    `kind` is the limit in truth, `also` are kinds that are as true. `subject` are words, one of which the limit's subject has.
    The load is `scenario` with `sets` (a value of none removes a key), at the node `near`, and `plant` begins after it. `lift`
    are sets, `is_plant_lifted` ends the plant, or `lift_spec` is a broker without the limit: `counter` is then at least `gain` times as high. From the release `until` on, the plant
    limits nothing. With `through`, the check of the whole cluster is asked of that node, and must name the first one.
    """

    name: str
    kind: str
    scenario: str = ""
    sets: dict = dataclasses.field(default_factory=dict)
    also: tuple = ()
    subject: tuple = ()
    spec: Spec = Spec()
    prepare: object = None
    plant: object = None
    near: int = 0
    settle: int = 4
    counter: str = "published"
    lift: dict = dataclasses.field(default_factory=dict)
    lift_spec: Spec = None
    is_plant_lifted: bool = False
    gain: float = 1.2
    until: str = ""
    through: int = None


ONE = Spec()
MEMORY = Spec(place="memory")
NETWORK = Spec(has_network=True)
PAIR = Spec(nodes=2, has_network=True)
MQTT = Spec(plugins=("rabbitmq_mqtt",))
# Before 4.0, AMQP 1.0 was a plugin.
AMQP10 = Spec(plugins=("rabbitmq_amqp1_0",) if release() < [4] else ())
STREAMS = Spec(plugins=("rabbitmq_stream",))
NARROW = Spec(nodes=2, erl_args="+zdbbl 32", has_network=True)
TWO = {"publishers.0.count": 2, "publishers.0.connections": 2}


def healthy(name, scenario, sets, more, **others):
    """A load that leaves room: with `more`, the node does twice as much."""
    return Case(name, "nothing", scenario, sets, also=("publishers",), lift=more, gain=1.8, **others)


CASES = [
    # One process.
    Case("queue", "process", "one-queue", subject=("check-orders",), lift={"queues.0.name": '"check-orders-{}"', "queues.0.from": 1,
         "queues.0.to": 4, "publishers.0.queue": '"check-orders-{}"'}),
    Case("queue-dead-letters", "process", "dead-letters", subject=("check-orders",), counter="confirmed", lift={
         "queues.0.name": '"check-orders-{}"', "queues.0.from": 1, "queues.0.to": 4, "publishers.0.queue": '"check-orders-{}"'}),
    Case("queue-priorities", "process", "one-queue", {"queues.0.arguments": "{ x-max-length = 1000, x-max-priority = 50 }"},
         subject=("check-orders",), lift={"queues.0.name": '"check-orders-{}"', "queues.0.from": 1, "queues.0.to": 4,
         "publishers.0.queue": '"check-orders-{}"'}),
    Case("channel-headers", "process", "headers", subject=("router", "channel", "127.0.0.1:"), lift=TWO, gain=1.5),
    Case("channel-topics", "process", "topics", subject=("router", "channel", "127.0.0.1:"), lift=TWO, gain=1.4),
    Case("queue-mqtt", "process", "mqtt", {"publishers.0.confirm-window": 1000}, spec=MQTT, subject=("mqtt-subscription",),
         until="3.12"),
    Case("queue-tls", "process", "one-queue", {"broker.tls.verify": "false"}, spec=Spec(has_tls=True), subject=("check-orders",)),
    Case("reader", "process", plant=plants.small_frames(500), subject=("reader", "127.0.0.1:")),
    # All schedulers.
    Case("one-scheduler", "schedulers", "many-queues", spec=Spec(erl_args="+S 1"), lift_spec=ONE),
    Case("one-online", "schedulers", "quorum", {"publishers.0.confirm-window": 1000},
         spec=Spec(erl_args="+S 2:1", place="memory"), counter="confirmed", lift_spec=MEMORY),
    Case("fan-out", "schedulers", "fanout", also=("host",)),
    Case("many-quorum", "schedulers", "quorum", {"queues.0.to": 20, "publishers.0.count": 20, "publishers.0.connections": 4,
         "publishers.0.confirm-window": 2000}, spec=MEMORY, counter="confirmed", also=("host",)),
    Case("many-loops", "schedulers", "many-queues", {"publishers.0.confirm-window": 1, "publishers.0.count": 100,
         "publishers.0.connections": 100}, also=("host",)),
    # The host.
    Case("burners", "host", "many-queues", plant=plants.burners(6), is_plant_lifted=True, gain=1.5),
    Case("burners-queue", "host", "one-queue", plant=plants.burners(6), is_plant_lifted=True, gain=1.5),
    Case("cpu-limit", "host", "many-queues", plant=plants.cpu_limit(0.5), is_plant_lifted=True, gain=1.5),
    Case("cpu-limit-queue", "host", "one-queue", {"publishers.0.count": 2, "publishers.0.connections": 2},
         plant=plants.cpu_limit(0.4), is_plant_lifted=True, gain=1.5),
    Case("one-cpu", "host", "many-queues", plant=plants.one_cpu(), is_plant_lifted=True, gain=1.5),
    Case("one-cpu-burners", "host", "many-queues", plant=plants.one_cpu(2), is_plant_lifted=True, gain=1.5),
    Case("stopped", "host", "many-queues", plant=plants.stopped(0.04, 0.06), is_plant_lifted=True, gain=1.5),
    # A disk.
    Case("disk-wal", "disk", "quorum", plant=plants.write_limit(60), subject=("wal", "vda", "loop", "disk"), counter="confirmed",
         is_plant_lifted=True, gain=1.5),
    Case("disk-classic", "disk", "persistent", {"publishers.0.size": "4KiB", "publishers.0.confirm-window": 20},
         subject=("store", "vda", "loop", "disk", "queue"), plant=plants.write_limit(60), counter="confirmed", is_plant_lifted=True,
         gain=1.5, until="4.0"),
    Case("disk-own", "disk", "quorum", {"publishers.0.size": "4KiB"}, spec=Spec(place="loop"), plant=plants.write_limit(60),
         subject=("wal", "loop", "disk"), counter="confirmed", is_plant_lifted=True, gain=1.5),
    Case("disk-loops", "disk", "quorum", {"publishers.0.confirm-window": 1}, plant=plants.write_limit(60),
         subject=("wal", "vda", "loop", "disk"), counter="confirmed", is_plant_lifted=True, gain=1.5),
    Case("disk-reads", "disk", "cold", plant=plants.read_limit(1_000_000), subject=("queue", "vda", "loop", "disk"),
         counter="consumed", settle=5, is_plant_lifted=True, gain=1.5),
    # The network.
    Case("network-narrow", "network", "one-consumer", spec=NETWORK,
         plant=plants.slow_clients("20mbit", 300), counter="consumed", is_plant_lifted=True, gain=1.5),
    Case("network-far", "network", "one-consumer", spec=Spec(is_far=True), plant=plants.narrow_path(2_000_000), counter="consumed",
         is_plant_lifted=True, gain=1.5),
    Case("network-lossy", "network", "one-consumer", spec=Spec(is_far=True), plant=plants.lossy_path(0.03), counter="consumed",
         also=("nothing",)),
    # Consumers.
    Case("consumers-slow", "consumers", "classic", {"publishers.0.rate": 800, "consumers.0.processing-time": "5ms",
         "consumers.0.prefetch": 50, "consumers.0.multi-ack-every": 1}, subject=("check-classic", "billing"), settle=8,
         counter="consumed", lift={"consumers.0.count": 4}),
    Case("consumers-prefetch-1", "consumers", "classic", {"run.step": "5ms", "publishers.0.rate": 2000, "consumers.0.prefetch": 1,
         "consumers.0.multi-ack-every": 1}, subject=("check-classic", "billing"), settle=8, counter="consumed",
         lift={"consumers.0.prefetch": 100}),
    Case("consumers-quorum", "consumers", "quorum", {"publishers.0.rate": 200, "consumers.0.processing-time": "20ms",
         "consumers.0.multi-ack-every": 1, "consumers.0.prefetch": 20}, subject=("check-quorum", "reports"), spec=MEMORY, settle=8,
         counter="consumed", lift={"consumers.0.processing-time": "1ms"}),
    Case("consumers-do-not-read", "consumers", "publishers", {"queues.0.arguments": "{ x-max-length = 2000 }",
         "publishers.0.rate": 200, "publishers.0.size": "20kB"}, also=("network",),
         subject=("check-far", "127.0.0.1:"), plant=plants.slow_reader("check-far", 200_000)),
    Case("consumers-poll", "consumers", "polled", subject=("check-polled",), counter="consumed", lift={
         "consumers.0.poll-interval": '"0s"', "consumers.0.count": 3, "consumers.0.connections": 3}),
    Case("consumers-get", "consumers", "feed", subject=("check-classic",), plant=plants.getter("check-classic", 0.002)),
    Case("consumers-leave", "consumers", "feed", {"publishers.0.rate": 200}, subject=("check-classic",), settle=6,
         plant=plants.leaver("check-classic", 10)),
    Case("consumers-global-prefetch", "consumers", "feed", {"publishers.0.rate": 400}, subject=("check-classic",), settle=6,
         plant=plants.global_prefetch("check-classic", 5, 0.01)),
    Case("consumers-single-active", "consumers", "single-active", subject=("check-sac", "billing"), settle=8, counter="consumed",
         lift={"consumers.0.processing-time": '"1ms"'}),
    Case("consumers-two-queues", "consumers", "two-queues", subject=("check-two", "billing"), settle=8, counter="consumed",
         lift={"consumers.0.processing-time": '"1ms"'}),
    Case("consumers-workers", "consumers", "workers", subject=("check-jobs", "worker"), settle=8, counter="consumed",
         lift={"consumers.0.count": 20, "consumers.0.connections": 20}),
    Case("consumers-rare", "consumers", "rare-jobs", subject=("check-jobs", "worker"), settle=14, counter="consumed",
         lift={"consumers.0.count": 6}),
    Case("consumers-relay", "consumers", "relay", subject=("check-first", "relay"), settle=8, counter="consumed",
         lift={"consumers.0.processing-time": '"1ms"'}),
    Case("consumers-requeue", "consumers", "requeued", subject=("check-requeue", "poison")),
    Case("consumers-mqtt", "consumers", "mqtt", {"publishers.0.rate": 400, "publishers.0.confirm-window": 100,
         "consumers.0.processing-time": '"8ms"'}, spec=MQTT, subject=("mqtt-subscription", "127.0.0.1:"), settle=8),
    Case("consumers-stream", "consumers", "stream-slow", subject=("check-log",), settle=8, counter="consumed",
         lift={"consumers.0.processing-time": '"100us"'}),
    Case("consumers-stream-protocol", "consumers", "stream-slow", {"publishers.0.protocol": '"stream"',
         "consumers.0.protocol": '"stream"', "consumers.0.prefetch": None}, spec=STREAMS, subject=("check-log",), settle=8,
         counter="consumed", lift={"consumers.0.processing-time": '"100us"'}),
    Case("consumers-amqp10", "consumers", "amqp10", {"publishers.0.rate": 800, "publishers.0.confirm-window": 100,
         "consumers.0.processing-time": '"3ms"', "consumers.0.prefetch": 20}, spec=AMQP10,
         subject=("check-ten",), settle=8, counter="consumed", lift={"consumers.0.processing-time": '"100us"'}),
    # Three sessions of a connection.
    Case("consumers-sessions", "consumers", "amqp10", {"publishers.0.rate": 1500, "publishers.0.confirm-window": 100,
         "consumers.0.count": 3, "consumers.0.processing-time": "3ms", "consumers.0.prefetch": 50}, spec=AMQP10,
         subject=("check-ten",), settle=8, counter="consumed", lift={"consumers.0.processing-time": '"100us"'}),
    Case("consumers-far", "consumers", "classic", {"publishers.0.rate": 1500, "consumers.0.prefetch": 10,
         "consumers.0.multi-ack-every": 1, "queues.0.arguments": "{ x-max-length = 5000 }"}, spec=Spec(is_far=True), also=("network",),
         subject=("check-classic", "billing"), settle=8, counter="consumed", lift={"consumers.0.prefetch": 200}),
    # Publishers.
    Case("publishers-one-by-one", "publishers", "classic", {"publishers.0.rate": None, "publishers.0.confirm-window": 1},
         subject=("shop", "127.0.0.1:"), counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    # Its messages come each millisecond, as those of a clock.
    Case("publishers-tick", "publishers", "classic", {"publishers.0.rate": 1_000_000, "publishers.0.confirm-window": 1,
         "run.step": "1ms"}, also=("nothing",), subject=("shop", "127.0.0.1:"), counter="confirmed",
         lift={"publishers.0.confirm-window": 200}),
    Case("publishers-one-by-one-quorum", "publishers", "quorum", {"publishers.0.count": 1, "publishers.0.connections": 1,
         "publishers.0.confirm-window": 1, "queues.0.to": 1, "consumers.0.count": 1, "consumers.0.connections": 1},
         also=("disk",), counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    Case("publishers-rate", "publishers", "classic", {"publishers.0.rate": 300}, also=("nothing",),
         lift={"publishers.0.rate": 900}, gain=2.5),
    Case("publishers-nagle", "publishers", plant=plants.nagle("check-nagle", 2), also=("network",)),
    Case("publishers-window", "publishers", "classic", {"publishers.0.rate": None, "publishers.0.confirm-window": 3},
         counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    Case("publishers-far", "publishers", "classic", {"publishers.0.rate": None, "publishers.0.confirm-window": 10},
         spec=Spec(is_far=True), also=("network",), counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    Case("publishers-quorum", "publishers", "quorum-window", spec=MEMORY, counter="confirmed",
         lift={"publishers.0.confirm-window": 2000}),
    Case("publishers-batches", "publishers", plant=plants.batches("check-own", 50, 0)),
    Case("publishers-transactions", "publishers", "transactions", also=("disk",), lift={"publishers.0.tx-size": 200}),
    Case("publishers-calls", "publishers", "one-caller", also=("consumers",), counter="consumed", lift={"requests.0.concurrency": 50}),
    Case("publishers-callers", "publishers", "one-caller", {"requests.0.count": 3, "requests.0.connections": 3},
         also=("consumers", "schedulers"), counter="consumed", lift={"requests.0.concurrency": 20}),
    Case("publishers-tls", "publishers", "classic", {"broker.tls.verify": "false", "publishers.0.rate": None,
         "publishers.0.confirm-window": 1}, spec=Spec(has_tls=True), counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    Case("publishers-mqtt", "publishers", "mqtt", spec=MQTT, lift={"publishers.0.confirm-window": 500}),
    Case("publishers-stream", "publishers", "stream-window", spec=STREAMS, also=("disk",), lift={"publishers.0.confirm-window": 10_000}),
    Case("publishers-amqp10", "publishers", "amqp10", spec=AMQP10, also=("schedulers",), until="4.0",
         lift={"publishers.0.confirm-window": 200}, gain=1.1),
    # Alarms.
    Case("alarm-memory", "alarm", "one-queue", spec=Spec(config="vm_memory_high_watermark.absolute = 40MB\n"), subject=("memory",),
         lift_spec=ONE),
    Case("alarm-disk", "alarm", "one-queue", plant=plants.disk_alarm(), subject=("disk",), is_plant_lifted=True),
    Case("alarm-elsewhere", "alarm", "one-queue", spec=PAIR, plant=plants.disk_alarm(1), subject=("disk",), is_plant_lifted=True),
    Case("alarm-flapping", "alarm", "one-queue", plant=plants.flapping_alarm, subject=("disk",), settle=6, is_plant_lifted=True),
    # Distribution.
    Case("distribution-narrow", "distribution", "publishers", {"publishers.0.size": "10kB"}, spec=PAIR, near=1,
         prepare=plants.far_queue("check-far", "classic"), plant=plants.slow_nodes("30mbit", 500), is_plant_lifted=True, gain=1.5),
    Case("distribution-quorum", "distribution", "publishers", {"publishers.0.size": "10kB", "publishers.0.confirm-window": 50},
         spec=PAIR, near=0, prepare=plants.far_queue("check-far", "quorum"), plant=plants.slow_nodes("30mbit", 500),
         counter="confirmed", is_plant_lifted=True, gain=1.5),
    Case("distribution-buffer", "distribution", "publishers", {"publishers.0.size": "10kB"}, spec=NARROW, near=1,
         prepare=plants.far_queue("check-far", "classic"), plant=plants.slow_nodes("100mbit", 500), is_plant_lifted=True, gain=1.5),
    # The first node of a cluster, asked through the second one.
    Case("cluster-queue", "process", "one-queue", spec=PAIR, subject=("check-orders",), through=1, lift={
         "queues.0.name": '"check-orders-{}"', "queues.0.from": 1, "queues.0.to": 4, "publishers.0.queue": '"check-orders-{}"'}),
    Case("cluster-cpu-limit", "host", "many-queues", spec=PAIR, plant=plants.cpu_limit(0.4), through=1, is_plant_lifted=True,
         gain=1.5),
    Case("cluster-consumers", "consumers", "classic", {"publishers.0.rate": 800, "consumers.0.processing-time": "5ms",
         "consumers.0.prefetch": 50, "consumers.0.multi-ack-every": 1}, spec=PAIR, subject=("check-classic", "billing"), settle=8,
         counter="consumed", through=1, lift={"consumers.0.count": 4}),
    # A lock.
    Case("lock-exchanges", "lock", "many-queues", {"publishers.0.rate": 2000}, subject=("rabbit_exchange", "ets"),
         plant=plants.lock("rabbit_exchange", 2), is_plant_lifted=True, gain=1.3, until="4.3"),
    Case("lock-queues", "lock", "many-queues", {"publishers.0.rate": 2000}, subject=("rabbit_queue", "ets"),
         plant=plants.lock("rabbit_queue", 2), is_plant_lifted=True, gain=1.3, until="4.3"),
    # Nothing.
    Case("idle", "nothing"),
    healthy("idle-connections", "idle", {}, {"publishers.0.interval": '"2500ms"'}),
    Case("idle-queues", "nothing", "idle-queues"),
    Case("bursts", "nothing", "burst", also=("publishers",)),
    Case("delayed", "nothing", "delayed", also=("publishers",)),
    Case("held", "nothing", "held", also=("publishers",)),
    Case("pauses", "nothing", plant=plants.batches("check-own", 1, 0.004)),
    Case("batches-and-pauses", "nothing", plant=plants.batches("check-own", 50, 0.1)),
    healthy("classic-narrow", "classic", {"publishers.0.rate": 2000, "publishers.0.confirm-window": 5}, {"publishers.0.rate": 4000}),
    healthy("classic-third", "classic", {"publishers.0.rate": 6000}, {"publishers.0.rate": 12000}),
    healthy("classic-half", "classic", {"publishers.0.rate": 10000}, {"publishers.0.rate": 19000}),
    healthy("large-quarter", "classic", {"publishers.0.rate": 60, "publishers.0.size": '"4MiB"', "publishers.0.confirm-window": 20},
            {"publishers.0.rate": 120}),
    healthy("quorum-third", "quorum", {"publishers.0.rate": 500}, {"publishers.0.rate": 1000}, counter="confirmed"),
    healthy("quorum-half", "quorum", {"publishers.0.rate": 1000}, {"publishers.0.rate": 2000}, spec=MEMORY, counter="confirmed"),
    healthy("stream-half", "stream", {"publishers.0.rate": 20000}, {"publishers.0.rate": 40000}),
    healthy("stream-live", "stream-slow", {"publishers.0.rate": 150}, {"publishers.0.rate": 300}),
    healthy("tls-third", "classic", {"broker.tls.verify": "false", "publishers.0.rate": 3000}, {"publishers.0.rate": 6000},
            spec=Spec(has_tls=True)),
    healthy("many-half", "many-queues", {"publishers.0.rate": 300}, {"publishers.0.rate": 600}),
    healthy("fan-out-third", "fanout", {"publishers.0.rate": 50}, {"publishers.0.rate": 100}),
    healthy("calls-half", "calls", {"requests.0.rate": 100}, {"requests.0.rate": 200}),
]
