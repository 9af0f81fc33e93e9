//! The options of PerfTest 2.22.1.

/// How many values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    One,
    /// One, or none.
    Optional,
    /// All words up to the next option.
    Many,
}

/// Short name, long name, values, what becomes of it.
pub(super) type PerfTestOption = (&'static str, &'static str, Takes, Fate);

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The scenario says the same.
    Ours,
    /// It has no equivalent, for this reason.
    Nothing(&'static str),
}

/// In the order of PerfTest's help.
pub(super) const OPTIONS: [PerfTestOption; 101] = [
    ("?", "help", Takes::Nothing, Fate::Nothing("`rabbitscope run --help`")),
    ("a", "autoack", Takes::Nothing, Fate::Ours),
    ("A", "multi-ack-every", Takes::One, Fate::Ours),
    ("ad", "auto-delete", Takes::One, Fate::Ours),
    ("b", "heartbeat", Takes::One, Fate::Ours),
    ("B", "body", Takes::One, Fate::Ours),
    ("bc", "body-count", Takes::One, Fate::Ours),
    ("bfc", "body-field-count", Takes::One, Fate::Ours),
    ("c", "confirm", Takes::One, Fate::Ours),
    ("C", "pmessages", Takes::One, Fate::Ours),
    ("ca", "consumer-args", Takes::One, Fate::Ours),
    ("cri", "connection-recovery-interval", Takes::One, Fate::Ours),
    ("csd", "consumer-start-delay", Takes::One, Fate::Ours),
    ("ct", "confirm-timeout", Takes::One, Fate::Ours),
    (
        "ctp",
        "consumers-thread-pools",
        Takes::One,
        Fate::Nothing("a few threads serve all connections"),
    ),
    ("d", "id", Takes::One, Fate::Ours),
    ("D", "cmessages", Takes::One, Fate::Ours),
    ("dcr", "disable-connection-recovery", Takes::Nothing, Fate::Ours),
    ("e", "exchange", Takes::Optional, Fate::Ours),
    ("E", "exclusive", Takes::Nothing, Fate::Ours),
    (
        "ei",
        "expected-instances",
        Takes::One,
        Fate::Nothing("give every machine the same `run.start-at`"),
    ),
    (
        "em",
        "exposed-metrics",
        Takes::One,
        Fate::Nothing("the run record has the scenario, and what is expected is in `[expect]`"),
    ),
    (
        "env",
        "environment-variables",
        Takes::Nothing,
        Fate::Nothing("every value of a scenario has its variable, see docs/scenario.md"),
    ),
    ("ew", "exit-when", Takes::One, Fate::Ours),
    ("f", "flag", Takes::Many, Fate::Ours),
    ("h", "uri", Takes::One, Fate::Ours),
    ("H", "uris", Takes::One, Fate::Ours),
    (
        "hst",
        "heartbeat-sender-threads",
        Takes::One,
        Fate::Nothing("heartbeats need no threads of their own"),
    ),
    ("i", "interval", Takes::One, Fate::Nothing("there is a row for each second, always")),
    (
        "isn",
        "instance-sync-namespace",
        Takes::One,
        Fate::Nothing("give every machine the same `run.start-at`"),
    ),
    (
        "ist",
        "instance-sync-timeout",
        Takes::One,
        Fate::Nothing("give every machine the same `run.start-at`"),
    ),
    ("jb", "json-body", Takes::Nothing, Fate::Ours),
    ("k", "routing-key", Takes::One, Fate::Ours),
    ("K", "random-routing-key", Takes::Nothing, Fate::Ours),
    ("L", "consumer-latency", Takes::One, Fate::Ours),
    ("ll", "leader-locator", Takes::One, Fate::Ours),
    ("m", "ptxsize", Takes::One, Fate::Ours),
    ("M", "framemax", Takes::One, Fate::Ours),
    ("ma", "max-age", Takes::One, Fate::Ours),
    (
        "mf",
        "metrics-format",
        Takes::One,
        Fate::Nothing("`--json` prints the record, and every second is in the run directory"),
    ),
    ("mh", "metrics-help", Takes::Nothing, Fate::Nothing("docs/guide.md lists what is recorded")),
    ("mlb", "max-length-bytes", Takes::One, Fate::Ours),
    ("mp", "message-properties", Takes::One, Fate::Ours),
    (
        "ms",
        "use-millis",
        Takes::Nothing,
        Fate::Nothing("latencies are in nanoseconds, and measured by one clock"),
    ),
    ("n", "ctxsize", Takes::One, Fate::Ours),
    ("na", "nack", Takes::Nothing, Fate::Ours),
    ("niot", "nio-threads", Takes::One, Fate::Nothing("a few threads serve all connections")),
    ("niotp", "nio-thread-pool", Takes::One, Fate::Nothing("a few threads serve all connections")),
    (
        "o",
        "output-file",
        Takes::One,
        Fate::Nothing("every run leaves a directory, `--out` names it"),
    ),
    (
        "o2gr",
        "oauth2-grant-type",
        Takes::One,
        Fate::Nothing("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2id",
        "oauth2-client-id",
        Takes::One,
        Fate::Nothing("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2p",
        "oauth2-parameters",
        Takes::Many,
        Fate::Nothing("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2sec",
        "oauth2-client-secret",
        Takes::One,
        Fate::Nothing("fetch a token and name its file in `broker.token-file`"),
    ),
    (
        "o2uri",
        "oauth2-token-endpoint",
        Takes::One,
        Fate::Nothing("fetch a token and name its file in `broker.token-file`"),
    ),
    ("p", "predeclared", Takes::Nothing, Fate::Ours),
    ("P", "publishing-interval", Takes::One, Fate::Ours),
    ("pi", "polling-interval", Takes::One, Fate::Ours),
    ("po", "polling", Takes::Nothing, Fate::Ours),
    ("prsd", "producer-random-start-delay", Takes::One, Fate::Ours),
    (
        "pst",
        "producer-scheduler-threads",
        Takes::One,
        Fate::Nothing("schedules need no threads of their own"),
    ),
    ("q", "qos", Takes::One, Fate::Ours),
    ("Q", "global-qos", Takes::One, Fate::Ours),
    ("qa", "queue-args", Takes::Many, Fate::Ours),
    ("qf", "queue-file", Takes::One, Fate::Ours),
    ("qp", "queue-pattern", Takes::One, Fate::Ours),
    ("qpf", "queue-pattern-from", Takes::One, Fate::Ours),
    ("qpt", "queue-pattern-to", Takes::One, Fate::Ours),
    ("qq", "quorum-queue", Takes::Nothing, Fate::Ours),
    ("r", "rate", Takes::One, Fate::Ours),
    ("R", "consumer-rate", Takes::One, Fate::Ours),
    ("re", "requeue", Takes::One, Fate::Ours),
    ("rkcs", "routing-key-cache-size", Takes::One, Fate::Ours),
    ("S", "slow-start", Takes::Nothing, Fate::Ours),
    ("s", "size", Takes::One, Fate::Ours),
    ("sb", "skip-binding-queues", Takes::Nothing, Fate::Ours),
    ("sco", "stream-consumer-offset", Takes::One, Fate::Ours),
    ("se", "sasl-external", Takes::Nothing, Fate::Ours),
    ("smssb", "stream-max-segment-size-bytes", Takes::One, Fate::Ours),
    ("sni", "server-name-indication", Takes::One, Fate::Ours),
    ("sq", "stream-queue", Takes::Nothing, Fate::Ours),
    ("sst", "servers-startup-timeout", Takes::One, Fate::Ours),
    (
        "st",
        "shutdown-timeout",
        Takes::One,
        Fate::Nothing("what is outstanding is awaited for a few seconds, always"),
    ),
    (
        "sul",
        "servers-up-limit",
        Takes::One,
        Fate::Nothing("the run starts with the first broker that answers"),
    ),
    ("t", "type", Takes::One, Fate::Ours),
    ("T", "body-content-type", Takes::One, Fate::Ours),
    ("tnd", "tcp-no-delay", Takes::One, Fate::Ours),
    ("trbs", "tcp-receive-buffer-size", Takes::One, Fate::Ours),
    ("tsbs", "tcp-send-buffer-size", Takes::One, Fate::Ours),
    ("u", "queue", Takes::One, Fate::Ours),
    ("udsc", "use-default-ssl-context", Takes::Nothing, Fate::Ours),
    ("v", "version", Takes::Nothing, Fate::Nothing("`rabbitscope --version`")),
    ("", "verbose", Takes::Nothing, Fate::Ours),
    ("", "verbose-full", Takes::Nothing, Fate::Ours),
    ("vl", "variable-latency", Takes::Many, Fate::Ours),
    ("vr", "variable-rate", Takes::Many, Fate::Ours),
    ("vs", "variable-size", Takes::Many, Fate::Ours),
    ("x", "producers", Takes::One, Fate::Ours),
    ("X", "producer-channel-count", Takes::One, Fate::Ours),
    ("y", "consumers", Takes::One, Fate::Ours),
    ("Y", "consumer-channel-count", Takes::One, Fate::Ours),
    ("z", "time", Takes::One, Fate::Ours),
];

const METRICS: Fate = Fate::Nothing(
    "`--prometheus`, `--csv` and `--json-lines` tell others what happens while a run goes",
);

/// What `--metrics-help` lists.
pub(super) const METRICS_OPTIONS: [PerfTestOption; 20] = [
    ("mc", "metrics-client", Takes::Nothing, METRICS),
    ("mcl", "metrics-class-loader", Takes::Nothing, METRICS),
    ("mcla", "metrics-command-line-arguments", Takes::Nothing, METRICS),
    ("mda", "metrics-datadog", Takes::Nothing, METRICS),
    ("mdak", "metrics-datadog-application-key", Takes::One, METRICS),
    ("mdd", "metrics-datadog-descriptions", Takes::Nothing, METRICS),
    ("mdh", "metrics-datadog-host-tag", Takes::One, METRICS),
    ("mdk", "metrics-datadog-api-key", Takes::One, METRICS),
    ("mds", "metrics-datadog-step-size", Takes::One, METRICS),
    ("mdu", "metrics-datadog-uri", Takes::One, METRICS),
    ("mjgc", "metrics-jvm-gc", Takes::Nothing, METRICS),
    ("mjm", "metrics-jvm-memory", Takes::Nothing, METRICS),
    ("mjp", "metrics-processor", Takes::Nothing, METRICS),
    ("mjt", "metrics-jvm-thread", Takes::Nothing, METRICS),
    ("mjx", "metrics-jmx", Takes::Nothing, METRICS),
    ("mpe", "metrics-prometheus-endpoint", Takes::One, METRICS),
    ("mpp", "metrics-prometheus-port", Takes::One, METRICS),
    ("mpr", "metrics-prometheus", Takes::Nothing, METRICS),
    ("mpx", "metrics-prefix", Takes::One, METRICS),
    ("mt", "metrics-tags", Takes::One, METRICS),
];

/// All options, those of the metrics last.
pub(super) fn all() -> impl Iterator<Item = &'static PerfTestOption> {
    OPTIONS.iter().chain(&METRICS_OPTIONS)
}
