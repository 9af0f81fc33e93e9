"""The planted cases: what limits the node in truth, and the change without which it would not."""

import dataclasses

import plants
from brokers import Spec


@dataclasses.dataclass(frozen=True)
class Case:
    """A planted case.

    `kind` is the limit in truth, `also` are kinds that are as true. `subject` are words, one of which the limit's subject has.
    The load is `scenario` with `sets`, at the node `near` (`query` is added to its URI), and `plant` begins after it. `lift` are sets, `without` the plant or
    `spec` a broker without the limit: `counter` is then at least `gain` times as high. From the release `until` on, the plant
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
    query: str = ""
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
    Case("reader", "process", plant=plants.small_frames(500), subject=("reader", "127.0.0.1:")),
    # All schedulers.
    Case("one-scheduler", "schedulers", "many-queues", spec=Spec(erl_args="+S 1"), lift_spec=ONE),
    Case("one-online", "schedulers", "quorum", {"publishers.0.confirm-window": 1000},
         spec=Spec(erl_args="+S 2:1", place="memory"), counter="confirmed", lift_spec=MEMORY),
    Case("fan-out", "schedulers", "fanout", also=("host",)),
    Case("many-quorum", "schedulers", "quorum", {"queues.0.to": 20, "publishers.0.count": 20, "publishers.0.connections": 4,
         "publishers.0.confirm-window": 2000}, spec=MEMORY, counter="confirmed", also=("host",)),
    # The host.
    Case("burners", "host", "many-queues", plant=plants.burners(6), is_plant_lifted=True, gain=1.5),
    Case("burners-queue", "host", "one-queue", plant=plants.burners(6), is_plant_lifted=True, gain=1.5),
    Case("cpu-limit", "host", "many-queues", plant=plants.cpu_limit(0.5), is_plant_lifted=True, gain=1.5),
    Case("cpu-limit-queue", "host", "one-queue", {"publishers.0.count": 2, "publishers.0.connections": 2},
         plant=plants.cpu_limit(0.4), is_plant_lifted=True, gain=1.5),
    # A disk.
    Case("disk-wal", "disk", "quorum", plant=plants.write_limit(60), subject=("wal", "vda", "loop", "disk"), counter="confirmed",
         is_plant_lifted=True, gain=1.5),
    Case("disk-classic", "disk", "persistent", {"publishers.0.size": "4KiB", "publishers.0.confirm-window": 20},
         subject=("store", "vda", "loop", "disk", "queue"), plant=plants.write_limit(60), counter="confirmed", is_plant_lifted=True,
         gain=1.5, until="4.0"),
    Case("disk-own", "disk", "quorum", {"publishers.0.size": "4KiB"}, spec=Spec(place="loop"), plant=plants.write_limit(60),
         subject=("wal", "loop", "disk"), counter="confirmed", is_plant_lifted=True, gain=1.5),
    # The network.
    Case("network-narrow", "network", "one-consumer", spec=NETWORK,
         plant=plants.slow_clients("20mbit", 300), counter="consumed", is_plant_lifted=True, gain=1.5),
    Case("network-far", "network", "one-consumer", spec=Spec(is_far=True), plant=plants.narrow_path(2_000_000), counter="consumed",
         is_plant_lifted=True, gain=1.5),
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
    # Publishers.
    Case("publishers-one-by-one", "publishers", "classic", {"publishers.0.rate": 1_000_000, "publishers.0.confirm-window": 1,
         "run.step": "1ms"}, subject=("shop", "127.0.0.1:"), counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    Case("publishers-one-by-one-quorum", "publishers", "quorum", {"publishers.0.count": 1, "publishers.0.connections": 1,
         "publishers.0.confirm-window": 1, "queues.0.to": 1, "consumers.0.count": 1, "consumers.0.connections": 1},
         also=("disk",), counter="confirmed", lift={"publishers.0.confirm-window": 200}),
    Case("publishers-rate", "publishers", "classic", {"publishers.0.rate": 300}, also=("nothing",),
         lift={"publishers.0.rate": 900}, gain=2.5),
    Case("publishers-nagle", "publishers", plant=plants.nagle("check-nagle", 2), also=("network",)),
    # Alarms.
    Case("alarm-memory", "alarm", "one-queue", spec=Spec(config="vm_memory_high_watermark.absolute = 40MB\n"), subject=("memory",),
         lift_spec=ONE),
    Case("alarm-disk", "alarm", "one-queue", plant=plants.disk_alarm, subject=("disk",), is_plant_lifted=True),
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
    healthy("classic-third", "classic", {"publishers.0.rate": 6000}, {"publishers.0.rate": 12000}),
    healthy("classic-half", "classic", {"publishers.0.rate": 10000}, {"publishers.0.rate": 19000}),
    healthy("quorum-third", "quorum", {"publishers.0.rate": 500}, {"publishers.0.rate": 1000}, counter="confirmed"),
    healthy("quorum-half", "quorum", {"publishers.0.rate": 1000}, {"publishers.0.rate": 2000}, spec=MEMORY, counter="confirmed"),
    healthy("stream-half", "stream", {"publishers.0.rate": 20000}, {"publishers.0.rate": 40000}),
    healthy("many-half", "many-queues", {"publishers.0.rate": 300}, {"publishers.0.rate": 600}),
    healthy("fan-out-third", "fanout", {"publishers.0.rate": 50}, {"publishers.0.rate": 100}),
    healthy("calls-half", "calls", {"requests.0.rate": 100}, {"requests.0.rate": 200}),
]
