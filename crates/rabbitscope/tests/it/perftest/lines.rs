//! Command lines of PerfTest that both programs run.

/// Lines that run side by side, each with `--rate 50` if it has no pace of its own.
pub(super) const COMPARED: [&str; 52] = [
    "",
    "-x 2 -y 3",
    "-y 2 -E",
    "-y 2 -Y 2 -X 2",
    "-u q",
    "-u q -y 2",
    "-E -u q -y 2",
    "-u q -y 0",
    "-u a,b",
    "-u a,b -y 2 -q 7",
    "-u a,b -y 0",
    "-y 0",
    "-r 0 -u q",
    "-r 2.5 -u q",
    "-P 0.2 -u q",
    "-vr 20:1 -vr 40:1 -u q",
    "-u q -f persistent",
    "-u q -f persistent mandatory -ad false",
    "-f persistent,mandatory -u q",
    "-f persistent -E -u q",
    "-p -u q",
    "-p true -u q -ad false",
    "-qq -u q",
    "-qq -u q -q 10 -A 5 -ll balanced",
    "-sq -u s",
    "-sq -u s -sco first -ma PT1H -smssb 50mb -mlb 2gb",
    "-sq -u s -mlb 0 -sco 2020-01-01T00:00:00+01:00 -q 50",
    "-u q -qa x-queue-type=quorum -f persistent -ad false",
    "-u q -qa x-max-length=1000,x-overflow=reject-publish",
    "-u q -qa x-single-active-consumer=true -y 2",
    "-u q -qa x-dead-letter-exchange=amq.default,x-dead-letter-routing-key=d",
    "-u q -qa x-queue-type=classic",
    "-u q -mlb 20gb",
    "-t fanout -u q",
    "-t topic -k a.b -u q",
    "-e mine -t headers -u q",
    "-e amq.topic -t topic -u q -k x.y",
    "-p -e amq.default -k q -u q",
    "-sb -u q",
    "-qp q-%d -qpf 1 -qpt 5 -y 2 -x 3",
    "-qp q-%03d -qpf 1 -qpt 3 -y 6 -x 6 -E",
    "-qp q-%x -qpf 9 -qpt 11 -y 3 -k key",
    "-qf queues.txt -y 3 -x 2",
    "-u q -a -q 20",
    "-u q -c 0",
    "-u q -c 10 -s 2000",
    "-u q -m 5 -n 10",
    "-u q -Q 30 -y 2 -ca x-priority=3",
    "-u q -po -pi 50",
    "-u q -jb -s 300 -bfc 50 -bc 5 -b 10 -M 65536",
    "-u q -B body.txt -T text/plain",
    "-u q -mp priority=5,contentType=a/b,messageId=7,timestamp=2020-01-01T00:00:00Z,x=y,n=1,flag=true,\
     expiration=60000,clusterId=c,deliveryMode=1 -na -re false",
];

/// Pairs of a text about PerfTest's objects, and the text about ours in its place.
type Exchanged = [(&'static str, &'static str)];

/// Lines with different objects afterwards, for a reason that docs/reference/perftest.md gives.
pub(super) const ON_PURPOSE: [(&str, &Exchanged); 1] = [
    // RabbitMQ has no limit for consumers that do not acknowledge: a scenario that sets one is refused.
    (
        "-u q -a -q 20",
        &[("{prefetch_count,20}", "{prefetch_count,0}"), ("prefetch 20", "prefetch 0")],
    ),
];

/// PerfTest declares an object that RabbitMQ refuses, or ends with a message about its command line.
pub(super) const REFUSED: [&str; 9] = [
    "-e amq.default -u q -z 2",
    "-e amq.topic -u q -z 2",
    "-qq -z 2",
    "-qq -sq -u q -z 2",
    "-qq -u q -E -z 2",
    "-u q -qa x-queue-type=quorum -z 2",
    "-qp q-%d -z 2",
    "-u q -ew never -z 2",
    "-u q -A 20 -q 10 -z 2",
];

/// Lines that run one after the other on one virtual host: PerfTest, ours, PerfTest.
pub(super) const IN_TURN: [&str; 6] = [
    "",
    "-u q -f persistent -ad false",
    "-qq -u q",
    "-sq -u q",
    "-t topic -k a.b -u a,b -ad false",
    "-p -u q -ad false -f persistent -c 10",
];
