"""Faults of AMQP 0-9-1: refused requests, ends without a close, and ways to waste time."""

import base64
import os
import signal
import socket
import struct
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from amqp import EXCLUSIVE, PASSWORDS, Client, method, publish, short
import machine

def closing(action):
    """A fault on a connection that closes correctly in the end."""
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


def forced_close(ports):
    """An operator closes a connection by the management's interface."""
    client = Client(ports["amqp"])
    name = urllib.parse.quote("127.0.0.1:%d -> 127.0.0.1:%d" % (client.socket.getsockname()[1], ports["amqp"]), safe="")
    request = urllib.request.Request("http://127.0.0.1:%d/api/connections/%s" % (ports["http"], name), method="DELETE")
    login = base64.b64encode(b"guest:" + PASSWORDS[ports["amqp"]].encode()).decode()
    request.add_header("Authorization", "Basic " + login)
    for _ in range(20):
        try:
            urllib.request.urlopen(request).close()
            break
        except urllib.error.HTTPError:
            # The management plugin does not know it yet.
            time.sleep(0.5)
    client.expect((10, 50))
    client.send(method(0, (10, 51)))
    client.socket.close()


def slow_login(ports):
    """A separate node stands still while its client logs in."""
    node = machine.broker()
    port = machine.ports_of(node)["amqp"]
    ports["told"](port)
    # Signals reach this process only, also if it ends and another one gets its number.
    process = os.pidfd_open(node["pid"])
    signal.pidfd_send_signal(process, signal.SIGSTOP)
    going_on = threading.Timer(1.5, signal.pidfd_send_signal, (process, signal.SIGCONT))
    going_on.start()
    try:
        Client(port).close()
    finally:
        going_on.join()
        os.close(process)
        machine.stop(node)


def node_killed(ports):
    """A separate node is killed under its client."""
    node = machine.broker()
    port = machine.ports_of(node)["amqp"]
    ports["told"](port)
    client = Client(port)
    machine.stop(node)
    client.expect((10, 50))
    try:
        client.send(method(0, (10, 51)))
    except OSError:
        pass
    client.socket.close()


def quorum_flood(ports):
    """A publisher without confirms that sends faster than a quorum queue accepts."""
    client, stop = Client(ports["amqp"]), time.monotonic() + 5
    name = "flood-%d" % client.socket.getsockname()[1]
    client.declare(name, 2, {"x-queue-type": "quorum"})
    many = b"".join(b"".join(publish(name, b"7" * 100)) for _ in range(1000))
    client.socket.settimeout(60)
    while time.monotonic() < stop:
        client.send(many)
    client.call((50, 40), b"\0\0" + short(name) + b"\0")
    client.close()


# Faults with a node of their own, which tell its port when it is there.
WITH_OWN_NODES = (slow_login, node_killed)
