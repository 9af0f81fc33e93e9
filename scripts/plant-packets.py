#!/usr/bin/env python3
"""Plants faults on connections of throwaway brokers, captures each, and compares the first finding of `packets` with the fault.

Usage, as root: scripts/plant-packets.py PROGRAM [ROUNDS]

Prints a table of what was planted and what was found first; exit code 1 where they differ, or where a healthy load has a
finding that is a warning or worse.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2
CAPABILITIES = {"authentication_failure_close": True, "consumer_cancel_notify": True, "connection.blocked": True,
                "basic.nack": True, "publisher_confirms": True}


def short(text):
    return bytes([len(text)]) + text.encode()


def long(data):
    return struct.pack(">I", len(data)) + data


def table(fields):
    out = b""
    for key, value in fields.items():
        out += short(key)
        if isinstance(value, bool):
            out += b"t" + bytes([value])
        elif isinstance(value, int):
            out += b"I" + struct.pack(">i", value)
        elif isinstance(value, dict):
            out += b"F" + table(value)
        else:
            out += b"S" + long(value.encode())
    return long(out)


def frame(kind, channel, payload):
    return bytes([kind]) + struct.pack(">HI", channel, len(payload)) + payload + b"\xce"


def method(channel, number, arguments=b""):
    return frame(1, channel, struct.pack(">HH", *number) + arguments)


def publish(key, body, exchange="", flags=0, channel=1):
    return [method(channel, (60, 40), b"\0\0" + short(exchange) + short(key) + bytes([flags])),
            frame(2, channel, struct.pack(">HHQH", 60, 0, len(body), 0)), frame(3, channel, body)]


class Client:
    """AMQP 0-9-1 by hand, so that it can do everything wrong."""

    def __init__(self, port, login=None, vhost="/", heartbeat=0, capabilities=True, channel=True, nodelay=True):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
        self.socket.settimeout(10)
        self.bytes = b""
        login = login or ("guest", PASSWORDS[port])
        self.send(b"AMQP\0\0\x09\x01")
        self.expect((10, 10))
        properties = table({"capabilities": CAPABILITIES} if capabilities else {})
        self.send(method(0, (10, 11), properties + short("PLAIN") + long(("\0%s\0%s" % login).encode()) + short("en_US")))
        if self.expect((10, 30), (10, 50)) != (10, 30):
            return
        self.send(method(0, (10, 31), struct.pack(">HIH", 2047, 131072, heartbeat)))
        self.send(method(0, (10, 40), short(vhost) + b"\0\0"))
        if self.expect((10, 41), (10, 50)) == (10, 41) and channel:
            self.open(1)

    def open(self, channel):
        self.send(method(channel, (20, 10), b"\0"))
        self.expect((20, 11))

    def send(self, data):
        self.socket.sendall(data)

    def frame(self):
        while len(self.bytes) < 7 or len(self.bytes) < 8 + struct.unpack(">I", self.bytes[3:7])[0]:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            self.bytes += data
        end = 8 + struct.unpack(">I", self.bytes[3:7])[0]
        whole, self.bytes = self.bytes[:end], self.bytes[end:]
        return whole[0], whole[7:-1]

    def expect(self, *numbers):
        try:
            while True:
                kind, payload = self.frame()
                number = struct.unpack(">HH", payload[:4]) if kind == 1 else None
                if number in numbers:
                    self.payload = payload
                    return number
        except (EOFError, ConnectionResetError):
            return None

    def call(self, number, arguments, channel=1):
        self.send(method(channel, number, arguments))
        return self.expect((number[0], number[1] + 1), (20, 40), (10, 50))

    def declare(self, name, flags=0, arguments={}):
        return self.call((50, 10), b"\0\0" + short(name) + bytes([flags]) + table(arguments))

    def consume(self, queue, auto_ack=False):
        return self.call((60, 20), b"\0\0" + short(queue) + short("t") + bytes([2 if auto_ack else 0]) + table({}))

    def prefetch(self, count):
        return self.call((60, 10), struct.pack(">IHB", 0, count, 0))

    def confirm(self):
        return self.call((85, 10), b"\0")

    def ack(self, tag, multiple=False):
        self.send(method(1, (60, 80), struct.pack(">QB", tag, multiple)))

    def delivery(self):
        self.expect((60, 60))
        tag = struct.unpack(">Q", self.payload[6:14])[0]
        while self.frame()[0] != 3:
            pass
        return tag

    def close(self):
        try:
            if self.call((10, 50), struct.pack(">H", 200) + short("") + b"\0\0\0\0", 0):
                pass
        except OSError:
            pass
        self.socket.close()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


EXCLUSIVE = 4
# Of guest, by the port of AMQP, and of streams.
PASSWORDS = {}


def closing(action):
    """A fault on a connection that is closed in the end as it should be."""
    def run(ports):
        client = Client(ports["amqp"])
        action(client)
        client.close()
    return run


def unknown_tag(client):
    client.ack(77)
    client.expect((20, 40))


def redeclare(client):
    name = "again-%d" % client.socket.getsockname()[1]
    client.declare(name, EXCLUSIVE)
    client.declare(name, EXCLUSIVE, {"x-max-length": 5})


def locked(ports):
    owner, other = Client(ports["amqp"]), Client(ports["amqp"])
    owner.declare("mine", EXCLUSIVE)
    other.declare("mine", EXCLUSIVE)
    other.close(), owner.close()


def raw(port, data, wait=0.4):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(5)
    connection.sendall(data)
    try:
        answer = connection.recv(4096)
    except OSError:
        answer = b""
    time.sleep(wait)
    connection.close()
    return answer


def wrong_frame(ports):
    client = Client(ports["amqp"])
    client.send(b"\x01\0\1\0\0\0\x04\0\x32\0\x0a\x00")
    client.expect((10, 50))
    client.socket.close()


def after(data, number=(10, 50)):
    def run(ports):
        client = Client(ports["amqp"])
        client.send(data)
        client.expect(number)
        client.send(method(0, (10, 51)))
        time.sleep(0.2)
        client.socket.close()
    return run


def no_route(client):
    client.send(b"".join(publish("nowhere-at-all", b"x", flags=1)))
    client.expect((60, 50))


def full_queue(client):
    client.declare("full-%d" % client.socket.getsockname()[1], EXCLUSIVE, {"x-max-length": 1, "x-overflow": "reject-publish"})
    client.confirm()
    for _ in range(5):
        client.send(b"".join(publish("full-%d" % client.socket.getsockname()[1], b"x")))
        client.expect((60, 80), (60, 120))


def cancelled(ports):
    client, other = Client(ports["amqp"]), Client(ports["amqp"])
    name = "goes-%d" % client.socket.getsockname()[1]
    client.declare(name)
    client.consume(name)
    other.call((50, 40), b"\0\0" + short(name) + b"\0")
    client.expect((60, 30))
    client.close(), other.close()


def rejected(client):
    name = "rejects-%d" % client.socket.getsockname()[1]
    client.declare(name, EXCLUSIVE)
    client.consume(name)
    for _ in range(5):
        client.send(b"".join(publish(name, b"x")))
        client.send(method(1, (60, 90), struct.pack(">QB", client.delivery(), 0)))


def reset(ports):
    client = Client(ports["amqp"])
    client.declare("r-%d" % client.socket.getsockname()[1], EXCLUSIVE)
    client.reset()


def idle_reset(ports):
    client = Client(ports["amqp"])
    time.sleep(11)
    client.reset()


def refused(ports):
    try:
        socket.create_connection(("127.0.0.1", ports["closed"]))
    except OSError:
        pass


def silent(ports):
    client = Client(ports["amqp"], heartbeat=1)
    time.sleep(5)
    client.socket.close()


def gone(ports):
    client = Client(ports["amqp"])
    client.declare("gone-%d" % client.socket.getsockname()[1], EXCLUSIVE)
    client.socket.close()


def connection_churn(ports):
    for _ in range(60):
        client = Client(ports["amqp"])
        client.send(b"".join(publish("nowhere", b"x")))
        client.close()


def channel_churn(ports):
    client = Client(ports["amqp"], channel=False)
    for number in range(1, 81):
        client.open(number)
        client.send(b"".join(publish("nowhere", b"x", channel=number)))
        client.call((20, 40), struct.pack(">H", 200) + short("") + b"\0\0\0\0", number)
    client.close()


def blocked(ports):
    client = Client(ports["alarm"])
    client.send(b"".join(publish("nowhere", b"x")))
    client.expect((10, 60))
    time.sleep(0.5)
    client.socket.close()


def slow_reader(ports):
    consumer, publisher = Client(ports["amqp"]), Client(ports["amqp"])
    name = "late-%d" % consumer.socket.getsockname()[1]
    consumer.declare(name, EXCLUSIVE)
    consumer.consume(name, True)
    for _ in range(300):
        publisher.send(b"".join(publish(name, b"7" * 100_000)))
    time.sleep(1.5)
    for _ in range(300):
        consumer.delivery()
    consumer.close(), publisher.close()


def frame_by_frame(client):
    for _ in range(3000):
        for part in publish("nowhere", b"7" * 40):
            client.send(part)
            end = time.perf_counter() + 150e-6
            while time.perf_counter() < end:
                pass


def nagle(ports):
    client = Client(ports["amqp"], nodelay=False)
    client.confirm()
    for _ in range(30):
        head, *rest = publish("nowhere", b"7" * 40)
        client.send(head)
        client.send(b"".join(rest))
        client.expect((60, 80))
    client.close()


def one_ack_each(client):
    name = "acks-%d" % client.socket.getsockname()[1]
    client.declare(name, EXCLUSIVE)
    client.prefetch(50)
    client.consume(name)
    for _ in range(100):
        client.send(b"".join(b"".join(publish(name, b"7" * 40)) for _ in range(10)))
        for _ in range(10):
            client.ack(client.delivery())


def polling(client):
    name = "polls-%d" % client.socket.getsockname()[1]
    client.declare(name, EXCLUSIVE)
    for _ in range(300):
        client.send(method(1, (60, 70), b"\0\0" + short(name) + b"\1"))
        client.expect((60, 72))
        time.sleep(0.002)


def one_unconfirmed(client):
    client.confirm()
    for _ in range(300):
        client.send(b"".join(publish("nowhere", b"7" * 40)))
        client.expect((60, 80))
        time.sleep(0.002)


def mqtt(packet):
    return lambda ports: raw(ports["mqtt"], packet)


def mqtt_connect(user, password):
    body = b"\0\4MQTT\4\xc2\0\x3c" + b"\0\2id" + struct.pack(">H", len(user)) + user + struct.pack(">H", len(password)) + password
    return bytes([0x10, len(body)]) + body


def stream_command(key, correlation, rest, version=1):
    return long(struct.pack(">HHI", key, version, correlation) + rest)


def stream_text(text):
    return struct.pack(">H", len(text)) + text


def stream(password, then):
    def run(ports):
        connection = socket.create_connection(("127.0.0.1", ports["stream"]))
        connection.settimeout(5)
        def ask(data):
            connection.sendall(data)
            time.sleep(0.15)
            try:
                return connection.recv(65536)
            except OSError:
                return b""
        ask(stream_command(17, 1, struct.pack(">I", 0)))
        ask(stream_command(18, 2, b""))
        ask(stream_command(19, 3, stream_text(b"PLAIN") + long(b"\0guest\0" + (password or PASSWORDS[ports["stream"]].encode()))))
        if then:
            connection.sendall(long(struct.pack(">HHII", 0x8014, 1, 1048576, 60)))
            ask(stream_command(21, 4, stream_text(b"/")))
            ask(then)
            ask(stream_command(22, 9, struct.pack(">H", 1) + stream_text(b"OK")))
        connection.close()
    return run


TLS_HELLO = bytes.fromhex("16030100700100006c0303") + bytes(32) + b"\0\0\2\x13\x01\1\0" + bytes(66)

FAULTS = [
    ("404: a queue that does not exist", "channel-closed", closing(lambda it: it.declare("never-there", 1))),
    ("403: a reserved name", "channel-closed", closing(lambda it: it.declare("amq.mine"))),
    ("405: another connection's queue", "channel-closed", locked),
    ("406: other arguments", "channel-closed", closing(redeclare)),
    ("406: an unknown delivery tag", "channel-closed", closing(unknown_tag)),
    ("404: an exchange that does not exist", "channel-closed",
     closing(lambda it: (it.send(b"".join(publish("k", b"x", exchange="nowhere"))), it.expect((20, 40))))),
    ("540: not implemented", "connection-closed", after(frame(1, 1, struct.pack(">HH", 60, 10) + struct.pack(">IHB", 5, 1, 0)))),
    ("403: a wrong password", "connection-closed", lambda ports: Client(ports["amqp"], ("guest", "wrong")).socket.close()),
    ("a wrong password, an old client", "closed-without",
     lambda ports: Client(ports["amqp"], ("guest", "wrong"), capabilities=False).socket.close()),
    ("530: a virtual host that does not exist", "connection-closed", lambda ports: Client(ports["amqp"], vhost="nowhere").socket.close()),
    ("504: a channel that is not open", "connection-closed", after(b"".join(publish("k", b"x", channel=9)))),
    ("504: a channel opened twice", "connection-closed", after(method(1, (20, 10), b"\0"))),
    ("501: a frame without its end", "connection-closed", wrong_frame),
    ("505: a header without a method", "connection-closed", after(frame(2, 1, struct.pack(">HHQH", 60, 0, 1, 0)))),
    ("312: no route", "message-returned", closing(no_route)),
    ("nack: a full queue", "publish-refused", closing(full_queue)),
    ("a queue deleted under its consumer", "consumer-cancelled", cancelled),
    ("deliveries rejected", "delivery-refused", closing(rejected)),
    ("a reset by the client", "connection-reset", reset),
    ("a reset after silence", "idle-reset", idle_reset),
    ("a closed port", "connection-refused", refused),
    ("a client without heartbeats", "missed-heartbeats", silent),
    ("a client that is gone", "closed-without", gone),
    ("TLS to a plain port", "wrong-protocol", lambda ports: raw(ports["amqp"], TLS_HELLO)),
    ("AMQP 1.0 without the plugin", "wrong-protocol", lambda ports: raw(ports["amqp"], b"AMQP\0\1\0\0")),
    ("HTTP to the port of AMQP", "wrong-protocol", lambda ports: raw(ports["amqp"], b"GET / HTTP/1.1\r\n\r\n")),
    ("a connection for each message", "connection-churn", connection_churn),
    ("a channel for each message", "channel-churn", channel_churn),
    ("an alarm", "connection-blocked", blocked),
    ("a consumer that does not read", "zero-window", slow_reader),
    ("frame by frame", "frame-by-frame", closing(frame_by_frame)),
    ("Nagle's algorithm", "delayed-acknowledgement", nagle),
    ("an acknowledgement each", "ack-per-message", closing(one_ack_each)),
    ("polling", "polling", closing(polling)),
    ("a confirm each", "application-limited", closing(one_unconfirmed)),
    ("MQTT: a wrong password", "login-refused", mqtt(mqtt_connect(b"guest", b"wrong"))),
    ("stream: a wrong password", "login-refused", stream(b"wrong", b"")),
    ("stream: a stream that does not exist", "stream-refused",
     stream(None, stream_command(7, 5, b"\1" + stream_text(b"nowhere") + struct.pack(">HH", 1, 10)))),
]


def broker(*options):
    said = subprocess.run([PROGRAM, "broker", "start", "--json", *options], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def capture(ports, action):
    """What `packets` says of what is done meanwhile."""
    with tempfile.TemporaryDirectory() as place:
        file = os.path.join(place, "p.json")
        numbers = [word for port in ports.values() for word in ("--port", str(port))]
        command = [PROGRAM, "packets", *numbers, "--duration", "120s", "-o", file]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.7)
        action(ports)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait()
        with open(file) as report:
            return json.load(report)


def ports_of(nodes):
    ports = {listener["protocol"]: listener["port"] for listener in nodes[0]["listeners"]}
    ports["alarm"] = nodes[1]["listeners"][0]["port"]
    for node in nodes:
        for listener in node["listeners"]:
            PASSWORDS[listener["port"]] = node["uri"].split(":")[2].split("@")[0]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        ports["closed"] = unused.getsockname()[1]
    return ports


# Loads in which nothing is wrong: options of `load`.
HEALTHY = [
    "-x 1 -y 1 -r 200 -z 4",
    "-x 2 -y 2 -r 2000 -c 100 -q 200 -z 4",
    "-x 1 -y 1 -c 200 -q 500 -s 1000 -z 4",
    "-x 4 -y 4 -r 500 -c 50 -q 100 -s 4000 -z 4",
    "-x 1 -y 1 -c 500 -q 500 -s 60000 -z 4",
    "-x 1 -y 0 -r 1000 -c 100 -z 3",
]


def healthy(words, uri):
    environment = {**os.environ, "RABBITSCOPE_URI": uri}
    def run(ports):
        with tempfile.TemporaryDirectory() as place:
            command = [PROGRAM, "load", *words.split(), "--out", os.path.join(place, "run")]
            subprocess.run(command, capture_output=True, env=environment)
    return run


def judge(name, expected, report, wrong):
    found = [(finding["rule"], finding["severity"]) for finding in report.get("findings", [])]
    first = found[0][0] if found else "nothing"
    if first != expected:
        wrong.append(name)
    others = ", ".join(rule for rule, _ in found[1:])
    print(f"| {name} | {expected} | {first} | {others} |", flush=True)


def main():
    wrong = []
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as config:
        config.write("vm_memory_high_watermark.absolute = 20MB\n")
        config.flush()
        nodes = [broker("--plugins", "rabbitmq_mqtt,rabbitmq_stream"), broker("--config", config.name)]
    try:
        ports = ports_of(nodes)
        print("| planted | expected first | found first | others |\n| --- | --- | --- | --- |")
        for name, expected, action in FAULTS:
            for _ in range(ROUNDS):
                judge(name, expected, capture(ports, action), wrong)
        for words in HEALTHY:
            for _ in range(ROUNDS):
                report = capture(ports, healthy(words, nodes[0]["uri"]))
                found = [finding["rule"] for finding in report.get("findings", []) if finding["severity"] != "note"]
                found = found or ["nothing" if report["totals"]["published"] else "nothing published"]
                wrong.extend([words] if found != ["nothing"] else [])
                notes = ", ".join(finding["rule"] for finding in report.get("findings", []))
                print(f"| healthy: {words} | nothing | {', '.join(found)} | {notes} |", flush=True)
        return wrong
    finally:
        for node in nodes:
            subprocess.run([PROGRAM, "broker", "stop", node["name"]], capture_output=True)


if __name__ == "__main__":
    faults = main()
    print(f"{len(faults)} wrong: {faults}", file=sys.stderr)
    sys.exit(1 if faults else 0)
