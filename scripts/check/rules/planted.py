"""Planted rules: a problem of a node or its clients, with the findings that must name it."""

import dataclasses

import plants as limits
from brokers import Spec
from cases import Case
from rules import plants

import faults  # noqa: E402  (of scripts/packets)
import protocols  # noqa: E402

# Clients of the loads that do nothing wrong. A finding that names them first is wrong, unless the case says so.
BYSTANDERS = ("shop", "billing")


@dataclasses.dataclass(frozen=True)
class RuleCase(Case):
    """A planted problem, or a healthy load, which has no findings.

    `finds` are rules, each with words. One of these is in the first subject of the finding. `{node}` and `{other}` stand for
    names of nodes, `{peer}` for the process of the last one, `{disk}` for the device with the data. `how` says what is planted. The check lasts at least `seconds`.
    """

    kind: str = "rule"
    finds: dict = dataclasses.field(default_factory=dict)
    how: str = ""
    seconds: int = 0
    settle: int = 2


MANAGED = Spec(plugins=("rabbitmq_management",))
PROTOCOLS = Spec(plugins=("rabbitmq_management", "rabbitmq_mqtt", "rabbitmq_stomp", "rabbitmq_stream", "rabbitmq_amqp1_0"))
PAIR = Spec(nodes=2, has_network=True, plugins=("rabbitmq_management",))
CLIENT = ("127.0.0.1:",)
PLAIN, NODE = "rules/plain", ("{node}",)


def client(name, how, finds, plant, **others):
    """Clients that misbehave beside a load that does not."""
    return RuleCase(name, how=how, finds=finds, scenario=others.pop("scenario", PLAIN), plant=plant, **{"spec": MANAGED, **others})


def load(name, how, finds, scenario, sets=None, **others):
    """A load that is the problem."""
    return RuleCase(name, how=how, finds=finds, scenario=scenario, sets=sets or {}, **{"spec": MANAGED, **others})


PLANTED = [
    # Clients.
    load("low-prefetch", "consumers with a prefetch of 1", {"low-prefetch": ("billing",)}, "rules/plain",
         {"run.step": "5ms", "publishers.0.rate": 3000, "consumers.0.prefetch": 1}, settle=8),
    client("unacknowledged", "60,000 messages at a consumer without prefetch, which acknowledges none",
           {"unacknowledged": ("hoarder",)}, plants.holding("check-held", 60_000), settle=6),
    client("silent-consumer", "a consumer with a prefetch of 20, which acknowledges none",
           {"silent-consumer": ("hoarder",)}, plants.holding("check-silent", 500, 20), settle=6, seconds=11),
    load("polling", "four clients that ask for single messages", {"polling": ("cron",), "packets-polling": ("cron",)}, "rules/polling"),
    load("transactions", "a commit for every 10 messages", {"transactions": ("shop",)}, "rules/direct",
         {"publishers.0.tx-size": 10, "publishers.0.name": '"shop"', "publishers.0.rate": 300}),
    load("confirm-window", "a confirm window of 1", {"confirm-window": ("shop",)}, "classic",
         {"publishers.0.rate": None, "publishers.0.confirm-window": 1}),
    load("connection-churn", "120 connections a second", {"connection-churn": ("127.0.0.1",), "packets-connection-churn": CLIENT},
         "rules/churn"),
    load("channel-churn", "150 channels a second", {"channel-churn": ("restless",), "packets-channel-churn": ("restless",)},
         "rules/churn", {"churn.0.kind": "channels", "churn.0.rate": 150}),
    load("queue-churn", "30 queues a second", {"queue-churn": NODE}, "rules/churn", {"churn.0.kind": "queues", "churn.0.rate": 30}),
    client("many-channels", "1,100 channels on a connection", {"many-channels": ("leaking",)}, plants.leaking(1100), settle=6),
    load("unroutable", "a routing key without binding", {"unroutable": NODE}, "rules/direct",
         {"publishers.0.routing-key": '"unbound"', "publishers.0.rate": 300}),
    load("redeliveries", "a consumer that returns every message to the queue",
         {"redeliveries": NODE, "packets-delivery-refused": ("billing",)}, PLAIN,
         {"publishers.0.rate": 20, "consumers.0.nack": "true", "consumers.0.prefetch": 10}),
    load("unconsumed-queue", "a queue without consumers", {"unconsumed-queue": ("check-flood",)}, "rules/flood",
         {"publishers.0.rate": 3000}, settle=4),
    # Processes and flow control.
    load("queue-bound", "a flood of a queue whose process also routes dead letters",
         {"queue-bound": ("check-orders",), "saturated-process": ("check-orders",)}, "dead-letters",
         {"publishers.0.confirm-window": 20_000}),
    load("channel-bound", "a flood through 200 bindings by headers", {"channel-bound": ("router",)}, "headers"),
    load("routing", "a flood of a direct exchange", {"routing": ("router",)}, "rules/direct"),
    load("quorum-soft-limit", "a flood of a quorum queue in memory", {"quorum-soft-limit": ("check-flood",)}, "rules/flood",
         {"queues.0.type": '"quorum"'}, spec=Spec(place="memory", plugins=MANAGED.plugins)),
    # The node.
    client("memory-alarm", "a watermark of 40 MB", {"memory-alarm": NODE, "packets-connection-blocked": CLIENT},
           plants.together(plants.watermark("40000000"), plants.repeated(plants.blocked))),
    client("disk-alarm", "a limit above the free space", {"disk-alarm": NODE}, limits.disk_alarm()),
    client("descriptors", "a limit that is 87 % used", {"descriptors": NODE}, plants.descriptors),
    client("tracing", "tracing of a virtual host", {"tracing": ("/",)}, plants.tracing),
    client("classic-paging", "30,000 messages, and memory at two thirds of the watermark", {"classic-paging": ("check-paged",)},
           plants.together(plants.long_queue("check-paged", 30_000), plants.watermark("Used * 1.5")), settle=6),
    client("http-load", "a client that asks for all queues all the time", {"http-load": ("http",)}, plants.scraping("/api/queues"),
           scenario="many-queues", sets={"queues.0.to": 300, "publishers.0.rate": 5}, settle=4),
    load("statistics-overload", "statistics of 4,000 channels, collected every second",
         {"statistics-overload": ("mgmt_stats",)}, "many-queues",
         {"queues.0.to": 1000, "publishers.0.count": 2000, "publishers.0.rate": 1, "consumers.0.count": 2000},
         spec=Spec(plugins=MANAGED.plugins, config="collect_statistics_interval = 1000\n"
                   + "".join(f"management.sample_retention_policies.{one}.minute = 1\n" for one in ("global", "basic", "detailed"))),
         settle=4),
    load("busy-wait", "schedulers that spin for long", {"busy-wait": NODE}, "idle", {"publishers.0.interval": '"200ms"'},
         spec=Spec(erl_args="+sbwt very_long +sbwtdcpu none")),
    load("few-schedulers", "one scheduler (`+S 1`)", {"few-schedulers": NODE}, "many-queues",
         {"publishers.0.rate": 1500}, spec=Spec(erl_args="+S 1")),
    load("shared-cores", "two nodes whose only schedulers are bound to one CPU", {"shared-cores": ("process {peer}",)}, "quorum",
         {"publishers.0.rate": 1500}, spec=dataclasses.replace(MANAGED, nodes=2, erl_args="+S 1 +sbt db")),
    # The machine.
    load("throttling", "a quota of 0.3 cores", {"throttling": NODE, "many-schedulers": NODE}, "classic", {"publishers.0.rate": 8000},
         plant=limits.cpu_limit(0.3)),
    load("neighbours", "six programs that burn CPU time", {"neighbours": ("sh",)}, "many-queues", plant=limits.burners(6)),
    client("clients-beside", "a flood from the same machine, and a client that spins", {"clients-beside": ("rabbitscope", "python")},
           plants.working("chatty", plants.frame_by_frame), scenario="many-queues"),
    load("wal-sync", "60 writes a second for quorum queues", {"wal-sync": ("wal",), "io-limit": ("{disk}",)}, "quorum", plant=limits.write_limit(60)),
    load("store-sync", "60 writes a second for persistent messages", {"store-sync": ("store", "check-durable")}, "persistent",
         {"publishers.0.size": "4KiB", "publishers.0.confirm-window": 20}, plant=limits.write_limit(60)),
    # Clusters.
    load("far-leaders", "clients on the other node than their queue's", {"far-leaders": ("{other}",)}, "publishers", spec=PAIR, near=1,
         sets={"publishers.0.rate": 2000, "queues.0.arguments": "{ x-max-length = 1000 }"},
         prepare=limits.far_queue("check-far", "classic"), settle=4),
    load("leaders", "all queues on one node", {"leaders": NODE}, "rules/leaders", spec=PAIR),
    client("mirroring", "a policy with `ha-mode`", {"mirroring": ("planted",)}, plants.mirrors, spec=PAIR),
    load("full-buffer", "a narrow link and a buffer of 32 KiB between nodes", {"distribution-buffer": NODE}, "publishers",
         {"publishers.0.size": "10kB"}, near=1, spec=dataclasses.replace(PAIR, erl_args="+zdbbl 32"),
         prepare=limits.far_queue("check-far", "classic"), plant=limits.slow_nodes("100mbit", 500)),
    # Packets.
    client("connection-closed", "a virtual host that does not exist", {"packets-connection-closed": CLIENT},
           plants.repeated(plants.missing_host)),
    client("connection-closed-504", "a channel that is not open", {"packets-connection-closed": CLIENT},
           plants.repeated(plants.closed_channel)),
    client("channel-closed", "a reserved name", {"packets-channel-closed": CLIENT}, plants.repeated(plants.reserved_name)),
    client("message-returned", "messages with the flag mandatory and without route", {"packets-message-returned": ("lost",)},
           plants.working("lost", plants.mandatory)),
    client("publish-refused", "a full queue that rejects", {"packets-publish-refused": CLIENT},
           plants.repeated(faults.closing(faults.full_queue))),
    client("consumer-cancelled", "a queue deleted under its consumer", {"packets-consumer-cancelled": CLIENT},
           plants.repeated(faults.cancelled)),
    client("connection-reset", "clients that reset", {"packets-connection-reset": CLIENT}, plants.repeated(faults.reset)),
    client("closed-without", "clients that leave without a word", {"packets-closed-without": CLIENT}, plants.repeated(faults.gone)),
    client("wrong-protocol", "TLS to a plain port", {"packets-wrong-protocol": CLIENT}, plants.repeated(plants.tls_hello)),
    client("missed-heartbeats", "a client that sends no heartbeats", {"packets-missed-heartbeats": CLIENT},
           plants.repeated(faults.silent), settle=0),
    client("zero-window", "consumers that read slowly", {"packets-zero-window": CLIENT}, limits.slow_reader("check-far", 200_000),
           scenario="publishers", sets={"queues.0.arguments": "{ x-max-length = 2000 }", "publishers.0.rate": 200,
           "publishers.0.size": "20kB"}),
    client("delayed-acknowledgement", "two writes for a message with Nagle's algorithm", {"packets-delayed-acknowledgement": ("nagler",)},
           plants.working("nagler", plants.one_confirm_in_two_writes, nodelay=False)),
    client("frame-by-frame", "method, header and body in a segment each", {"packets-frame-by-frame": ("chatty",)},
           plants.working("chatty", plants.frame_by_frame)),
    client("ack-per-message", "an acknowledgement in a segment for each message", {"packets-ack-per-message": ("acker",)},
           plants.working("acker", plants.one_acknowledgement_each)),
    client("application-limited", "confirms one by one", {"packets-application-limited": ("careful",)},
           plants.working("careful", plants.one_confirm_each), scenario=""),
    client("login-refused", "MQTT with a wrong password", {"packets-login-refused": CLIENT},
           plants.repeated(protocols.mqtt(protocols.mqtt_connect(b"guest", b"wrong"))), spec=PROTOCOLS),
    # With OTP 29 and RabbitMQ 4.3.6 of Debian, the plugin fails before it asks.
    client("slow-login", "a service for users that takes 1.5 s for each login", {"packets-slow-login": CLIENT}, plants.slow_users(1.5),
           spec=Spec(plugins=("rabbitmq_auth_backend_http",), config=plants.ASKING), until="4.3"),
    client("mqtt-loop", "two MQTT clients with one identifier", {"packets-mqtt-loop": ("the-same", "127.0.0.1")},
           plants.repeated(protocols.taken_over), spec=PROTOCOLS),
    client("amqp10-error", "AMQP 1.0 for a queue that does not exist", {"packets-amqp10-error": CLIENT},
           plants.repeated(plants.missing_node), spec=PROTOCOLS),
    client("stream-refused", "a stream that does not exist", {"packets-stream-refused": CLIENT},
           plants.repeated(plants.missing_stream), spec=PROTOCOLS),
]
