"""Healthy loads: none has a finding at warning level, beside those about other programs on this machine."""

from brokers import Spec
from rules import plants
from rules.planted import MANAGED, PAIR, PLAIN, PROTOCOLS, RuleCase

TLS = Spec(plugins=MANAGED.plugins, has_tls=True)
MEMORY = Spec(place="memory", plugins=MANAGED.plugins)
MONITORED = Spec(plugins=("rabbitmq_management", "rabbitmq_prometheus"))


def healthy(name, how, scenario="", sets=None, **others):
    return RuleCase(f"healthy-{name}", "healthy", scenario, sets or {}, how=how, **{"spec": MANAGED, **others})


def arguments(text):
    return {"queues.0.arguments": "{ " + text + " }"}


HEALTHY = [
    healthy("idle", "no client"),
    healthy("connections", "100 connections with a message every 5 s", "idle"),
    healthy("plain", "200 messages a second, prefetch 100", PLAIN),
    healthy("fast", "3,000 messages a second, prefetch 100", PLAIN, {"publishers.0.rate": 3000}),
    healthy("auto-ack", "2,000 messages a second without acknowledgements", "many-queues",
            {"queues.0.to": 1, "publishers.0.count": 1, "publishers.0.connections": 1, "publishers.0.rate": 2000, "consumers.0.count": 1,
             "consumers.0.connections": 1}),
    healthy("confirms", "1,000 messages a second, confirm window 100", PLAIN,
            {"publishers.0.rate": 1000, "publishers.0.confirm-window": 100}),
    healthy("multiple", "1,000 messages a second, an acknowledgement for 20", "classic"),
    healthy("classic", "6,000 messages a second, confirm window 500", "classic", {"publishers.0.rate": 6000}),
    healthy("transient", "1,000 transient messages a second, a queue that is not durable", PLAIN,
            {"publishers.0.rate": 1000, "queues.0.durable": "false"}),
    healthy("auto-delete", "a queue that goes with its consumer", PLAIN, {"queues.0.auto-delete": "true", "queues.0.durable": "false"}),
    healthy("large", "40 bodies of 100 kB a second", PLAIN, {"publishers.0.rate": 40, "publishers.0.size": '"100kB"'}),
    healthy("persistent", "300 persistent messages of 1 KiB a second, confirm window 100", PLAIN,
            {"publishers.0.rate": 300, "publishers.0.size": '"1KiB"', "publishers.0.persistent": "true",
             "publishers.0.confirm-window": 100}),
    healthy("persistent-large", "20 persistent messages of 64 KiB a second", PLAIN,
            {"publishers.0.rate": 20, "publishers.0.size": '"64KiB"', "publishers.0.persistent": "true",
             "publishers.0.confirm-window": 100}),
    healthy("lazy", "a lazy queue", PLAIN, {**arguments('x-queue-mode = "lazy"'), "publishers.0.rate": 300}),
    healthy("version-2", "a classic queue of version 2", PLAIN, {**arguments("x-queue-version = 2"), "publishers.0.rate": 1000}),
    healthy("priorities", "a queue with five priorities", PLAIN, {**arguments("x-max-priority = 5"), "publishers.0.rate": 500}),
    healthy("single-active", "a single active consumer of three", PLAIN,
            {**arguments("x-single-active-consumer = true"), "consumers.0.count": 3, "consumers.0.connections": 3}),
    healthy("expiring", "messages that expire after a minute", PLAIN, arguments("x-message-ttl = 60000")),
    healthy("poisson", "500 messages a second at random distances", PLAIN,
            {"publishers.0.rate": 500, "publishers.0.arrival": '"poisson"'}),
    healthy("slow-work", "50 messages a second, work of 5 ms for each", PLAIN,
            {"publishers.0.rate": 50, "consumers.0.processing-time": '"5ms"'}),
    healthy("workers", "500 messages a second for ten consumers with a prefetch of 20", PLAIN,
            {"publishers.0.rate": 500, "consumers.0.count": 10, "consumers.0.connections": 10, "consumers.0.prefetch": 20}),
    healthy("mandatory", "1,000 messages a second with the flag mandatory", PLAIN,
            {"publishers.0.rate": 1000, "publishers.0.mandatory": "true", "publishers.0.confirm-window": 100}),
    healthy("routes", "500 messages a second by topic for ten queues", "rules/routes"),
    healthy("headers", "200 messages a second through 200 bindings by headers", "headers",
            {"publishers.0.rate": 200, "publishers.0.properties": '{ headers = { number = "7" } }'}),
    healthy("fan-out", "20 messages a second for 40 queues, from four publishers", "fanout", {"publishers.0.rate": 5}),
    healthy("many-queues", "20 queues with 100 messages a second each", "many-queues", {"publishers.0.rate": 100}),
    healthy("200-queues", "200 queues with 5 messages a second each", "many-queues",
            {"queues.0.to": 200, "publishers.0.count": 200, "publishers.0.rate": 5, "consumers.0.count": 200}),
    healthy("calls", "500 calls a second with direct replies", "calls"),
    healthy("calls-queue", "100 calls a second with queues for replies", "calls", {"requests.0.rate": 10, "requests.0.reply": '"queue"'}),
    healthy("stream", "5,000 messages a second through a stream", "stream"),
    healthy("quorum", "four quorum queues with 50 messages a second each", "quorum", {"publishers.0.rate": 50}),
    healthy("some-churn", "two connections a second beside a load", "rules/churn", {"churn.0.rate": 2}),
    healthy("backlog", "5,000 messages that wait for a consumer, beside a load", PLAIN, plant=plants.long_queue("check-backlog", 5000)),
    healthy("quorum-memory", "four quorum queues with 250 messages a second each, in memory", "quorum", {"publishers.0.rate": 250},
            spec=MEMORY),
    healthy("monitored", "the management API asked for all queues every 5 s", "many-queues", {"publishers.0.rate": 20},
            plant=plants.scraping("/api/queues", 5)),
    healthy("scraped", "the Prometheus endpoint scraped every 5 s", PLAIN, spec=MONITORED,
            plant=plants.scraping("/metrics", 5, "http/prometheus")),
    healthy("mqtt", "50 messages a second by MQTT", PLAIN, spec=PROTOCOLS, plant=plants.mqtt_clients),
    healthy("stomp", "50 messages a second by STOMP", PLAIN, spec=PROTOCOLS, plant=plants.stomp_clients),
    healthy("tls", "500 messages a second by TLS, confirm window 100", PLAIN,
            {"broker.tls.verify": "false", "publishers.0.rate": 500, "publishers.0.confirm-window": 100}, spec=TLS),
    healthy("cluster", "two nodes, clients with their leader", PLAIN, {"publishers.0.rate": 500}, spec=PAIR),
    healthy("cluster-quorum", "a quorum queue with two members", "quorum", {"publishers.0.rate": 50}, spec=PAIR),
]
