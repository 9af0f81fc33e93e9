"""Plants of rules: states of the node, and clients that misbehave. Each takes a site, and ends with its block."""

import base64
import contextlib
import http.server
import pathlib
import socket
import struct
import threading
import time
import urllib.request

import machine
from clients import Worker, connect

import faults  # noqa: E402  (of scripts/packets, as all below)
import protocols  # noqa: E402
from amqp import EXCLUSIVE, PASSWORDS, Client, publish  # noqa: E402


def together(*plants):
    @contextlib.contextmanager
    def plant(site):
        with contextlib.ExitStack() as stack:
            for one in plants:
                stack.enter_context(one(site))
            yield
    return plant


# ---- States of the node ----

def evaluated(start, end, before=None):
    """Evaluates Erlang on the node. `{}` in the end is the value of `before`."""
    @contextlib.contextmanager
    def plant(site):
        value = site.evaluate(before).strip() if before else ""
        site.evaluate(start)
        try:
            yield
        finally:
            site.evaluate(end.replace("{}", value))
    return plant


def watermark(memory):
    """Sets the memory above which the alarm is raised: bytes, in Erlang. `Used` is what the node uses."""
    used = "{Used, _} = gen_server:call(vm_memory_monitor, get_cached_process_memory_and_limit), "
    return evaluated(f"{used} vm_memory_monitor:set_vm_memory_high_watermark({{absolute, trunc({memory})}}).",
                     "vm_memory_monitor:set_vm_memory_high_watermark({}).", "vm_memory_monitor:get_vm_memory_high_watermark().")


tracing = evaluated('rabbit_trace:start(<<"/">>).', 'rabbit_trace:stop(<<"/">>).')
mirrors = evaluated('rabbit_policy:set(<<"/">>, <<"planted">>, <<"^check-">>, [{<<"ha-mode">>, <<"all">>}], 0, <<"queues">>, <<"bench">>).',
                    'rabbit_policy:delete(<<"/">>, <<"planted">>, <<"bench">>).')


@contextlib.contextmanager
def descriptors(site):
    """Lowers the limit of descriptors until most are in use."""
    used = len(list(pathlib.Path(f"/proc/{site.pid()}/fd").iterdir()))
    before = machine.run("prlimit", "--pid", site.pid(), "--nofile", "--noheadings", "--output", "SOFT").strip()
    machine.run("prlimit", "--pid", site.pid(), f"--nofile={int(used / 0.87)}:")
    try:
        yield
    finally:
        machine.run("prlimit", "--pid", site.pid(), f"--nofile={before}:")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# The service that a broker with this configuration asks for users other than its own.
USERS = free_port()
ASKING = "auth_backends.1 = internal\nauth_backends.2 = http\n" + "".join(
    f"auth_http.{one}_path = http://127.0.0.1:{USERS}/{one}\n" for one in ("user", "vhost", "resource", "topic"))


def slow_users(seconds):
    """A service that knows all users, and takes this long for each. Clients log in again and again."""
    class Service(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.startswith("/user"):
                time.sleep(seconds)
            answer = b"allow"
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    def log_in(ports):
        Client(ports["amqp"], login=("of-the-service", "secret")).close()

    @contextlib.contextmanager
    def plant(site):
        with http.server.ThreadingHTTPServer(("127.0.0.1", USERS), Service) as service:
            threading.Thread(target=service.serve_forever, daemon=True).start()
            try:
                with repeated(log_in)(site):
                    yield
            finally:
                service.shutdown()
    return plant


def long_queue(queue, messages):
    """A queue of this length, without consumers."""
    @contextlib.contextmanager
    def plant(site):
        client = connect(site, name="importer")
        client.declare(queue, EXCLUSIVE)
        client.send(b"".join(publish(queue, b"7" * 40)) * messages)
        yield
        client.close()
    return plant


# ---- Clients that misbehave all the time ----

def holding(queue, messages, prefetch=0):
    """A consumer that acknowledges nothing."""
    @contextlib.contextmanager
    def plant(site):
        client = connect(site, name="hoarder")
        client.declare(queue, EXCLUSIVE)
        client.send(b"".join(publish(queue, b"7")) * messages)
        if prefetch:
            client.prefetch(prefetch)
        client.consume(queue)
        client.socket.settimeout(0.5)

        def read():
            with contextlib.suppress(TimeoutError):
                return len(client.socket.recv(65536))
            return 0

        worker = Worker(read)
        try:
            yield
        finally:
            # A socket that a thread reads is not closed.
            worker.stop()
            client.reset()
    return plant


def leaking(channels):
    """A client that opens channels and closes none."""
    @contextlib.contextmanager
    def plant(site):
        client = connect(site, name="leaking")
        for number in range(2, channels + 1):
            client.open(number)
        yield
        client.close()
    return plant


def working(name, work, **options):
    """A client that does this all the time, on one connection. `work` takes the client, and returns the number of messages."""
    @contextlib.contextmanager
    def plant(site):
        client = connect(site, name=name, **options)
        worker = Worker(lambda: work(client))
        try:
            yield
        finally:
            worker.stop()
            with contextlib.suppress(OSError, EOFError):
                client.close()
    return plant


def frame_by_frame(client):
    """Publishes method, header and body of a message in a segment each."""
    for part in publish("nowhere", b"7" * 40):
        client.send(part)
        end = time.perf_counter() + 100e-6
        while time.perf_counter() < end:
            pass
    return 1


def one_acknowledgement_each(client):
    """Sends messages to itself and acknowledges each in a segment of its own."""
    if not hasattr(client, "queue"):
        client.queue = "check-acks"
        client.declare(client.queue, EXCLUSIVE)
        client.prefetch(50)
        client.consume(client.queue)
    client.send(b"".join(publish(client.queue, b"7" * 40)) * 10)
    for _ in range(10):
        client.ack(client.delivery())
    return 10


def one_confirm_each(client):
    """Publishes a message, waits for its confirm, and works for a while."""
    time.sleep(0.005)
    if not hasattr(client, "is_confirming"):
        client.is_confirming = client.confirm()
    client.send(b"".join(publish("nowhere", b"7" * 40)))
    return 1 if client.expect((60, 80)) else 0


def one_confirm_in_two_writes(client):
    """The same with two writes for a message."""
    if not hasattr(client, "is_confirming"):
        client.is_confirming = client.confirm()
    head, *rest = publish("nowhere", b"7" * 40)
    client.send(head)
    client.send(b"".join(rest))
    return 1 if client.expect((60, 80)) else 0


def mandatory(client):
    """Publishes a message without route, which comes back."""
    client.send(b"".join(publish("nowhere-at-all", b"x", flags=1)))
    client.expect((60, 50))
    time.sleep(0.005)
    return 1


def scraping(path, pause=0, protocol="http"):
    """Asks the node for a page, with pauses of so many seconds."""
    @contextlib.contextmanager
    def plant(site):
        request = urllib.request.Request(f"http://127.0.0.1:{site.ports()[protocol]}{path}")
        request.add_header("Authorization", "Basic " + base64.b64encode(b"guest:" + site.password().encode()).decode())

        def step():
            time.sleep(pause)
            return len(urllib.request.urlopen(request, timeout=10).read())

        worker = Worker(step)
        try:
            yield
        finally:
            worker.stop()
    return plant


# ---- Faults of short connections ----

def repeated(*actions, pause=0.2):
    """Repeats faults in turn. Each takes ports by protocol."""
    @contextlib.contextmanager
    def plant(site):
        ports = site.ports()
        PASSWORDS.update({port: site.password() for port in ports.values()})

        def step():
            for action in actions:
                with contextlib.suppress(OSError, EOFError, AttributeError, struct.error):
                    action(ports)
            time.sleep(pause)
            return 1

        worker = Worker(step)
        try:
            yield
        finally:
            worker.stop()
    return plant


def blocked(ports):
    """Publishes while an alarm is raised."""
    faults.blocked({"alarm": ports["amqp"]})


def missing_host(ports):
    Client(ports["amqp"], vhost="nowhere").socket.close()


def tls_hello(ports):
    faults.raw(ports["amqp"], protocols.TLS_HELLO, 0.1)


def missing_node(ports):
    """AMQP 1.0 shares the port of AMQP 0-9-1."""
    protocols.no_such_node({"amqp10": ports["amqp"]})


def missing_stream(ports):
    declared = protocols.stream_command(7, 5, b"\1" + protocols.stream_text(b"nowhere") + struct.pack(">HH", 1, 10))
    protocols.stream(None, declared)(ports)


def reserved_name(ports):
    faults.closing(lambda client: client.declare("amq.mine"))(ports)


def closed_channel(ports):
    faults.after(b"".join(publish("k", b"x", channel=9)))(ports)


# ---- Clients of other protocols that do everything right ----

@contextlib.contextmanager
def mqtt_clients(site):
    """A publisher and a subscriber of MQTT 3.1.1, without acknowledgements."""
    port = site.ports()["mqtt"]
    PASSWORDS[port] = site.password()
    reader, writer = protocols.mqtt_session(port, b"reader"), protocols.mqtt_session(port, b"writer")
    reader.sendall(bytes([0x82, 12]) + b"\0\1" + protocols.stream_text(b"planted") + b"\0")
    yield from serving(reader, writer, bytes([0x30, 49]) + protocols.stream_text(b"planted") + b"7" * 40, b"\xe0\0")


@contextlib.contextmanager
def stomp_clients(site):
    """A sender and a subscriber of STOMP 1.2."""
    def session():
        connection = socket.create_connection(("127.0.0.1", site.ports()["stomp"]))
        connection.settimeout(5)
        connection.sendall(f"CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:{site.password()}\n\n\0".encode())
        connection.recv(4096)
        return connection
    reader, writer = session(), session()
    reader.sendall(b"SUBSCRIBE\nid:0\ndestination:/topic/planted\nack:auto\n\n\0")
    yield from serving(reader, writer, b"SEND\ndestination:/topic/planted\n\n7777777\0", b"DISCONNECT\nreceipt:1\n\n\0")


def serving(reader, writer, message, farewell):
    """Sends a message 50 times a second until the end of the block, and reads what arrives."""
    def send():
        writer.sendall(message)
        time.sleep(0.02)
        return 1

    reader.settimeout(30)
    workers = [Worker(send), Worker(lambda: len(reader.recv(65536)))]
    try:
        yield
    finally:
        workers[0].stop()
        for connection in (writer, reader):
            with contextlib.suppress(OSError):
                connection.sendall(farewell)
                time.sleep(0.1)
                connection.close()
        workers[1].stop()
