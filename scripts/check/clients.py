"""Clients that do what no load does: read slowly, or leave Nagle's algorithm on."""

import contextlib
import os
import pathlib
import random
import socket
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent / "packets"))
import delay  # noqa: E402
from amqp import PASSWORDS, Client, frame, method, publish, short  # noqa: E402


def connect(site, index=0, **options):
    PASSWORDS[site.port(index)] = site.password(index)
    with inside(site.network):
        return Client(site.port(index), **options)


@contextlib.contextmanager
def inside(network):
    """Makes new sockets of this thread in another network."""
    if not network:
        yield
        return
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{network}", os.O_RDONLY)
    new_network = 0x40000000
    try:
        if libc.setns(other, new_network) != 0:
            raise OSError(ctypes.get_errno(), network)
        yield
    finally:
        libc.setns(own, new_network)
        os.close(own)
        os.close(other)


def deletion(queue):
    """Arguments of `queue.delete`."""
    return b"\0\0" + short(queue) + b"\0"


class FarPath(delay.Path):
    """A path to the broker whose way back can be narrow: `rate` in bytes a second, with room for `room` seconds of
    packets, and where a share `loss` of them is lost."""

    def __init__(self, seconds=0.01):
        self.rate, self.room, self.free, self.base, self.loss = None, 0.1, 0.0, seconds, 0
        super().__init__(seconds, "rscheck0")

    def take(self, packet):
        self.delay = self.base
        if self.loss and packet[12:16] == delay.LOOPBACK and random.random() < self.loss:
            return
        if self.rate and packet[12:16] == delay.LOOPBACK:
            now = time.monotonic()
            self.free = max(self.free, now)
            if self.free - now > self.room:
                return
            self.free += len(packet) / self.rate
            self.delay += self.free - now
        super().take(packet)


class Worker:
    """A thread that repeats a step until the end. `count` is the number of messages."""

    def __init__(self, step):
        self.count, self.is_on = 0, True
        self.thread = threading.Thread(target=self.repeat, args=(step,), daemon=True)
        self.thread.start()

    def repeat(self, step):
        while self.is_on:
            try:
                self.count += step()
            except (OSError, EOFError, AttributeError):
                return

    def stop(self):
        self.is_on = False
        self.thread.join(3)


@contextlib.contextmanager
def slow_reader(site, queue, bytes_a_second, count=1):
    """Consumers without acknowledgement that read from their sockets slowly, with small buffers."""
    workers, clients = [], []
    for _ in range(count):
        client = connect(site)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        client.consume(queue, auto_ack=True)
        piece = bytes_a_second // 50

        def step(client=client):
            time.sleep(0.02)
            return len(client.socket.recv(piece))

        clients.append(client)
        workers.append(Worker(step))
    try:
        yield workers
    finally:
        for client in clients:
            client.reset()
        for worker in workers:
            worker.stop()


@contextlib.contextmanager
def batches(site, queue, size, pause):
    """A publisher that waits for the confirms of a batch before the next one, and for `pause` seconds."""
    client = connect(site)
    client.declare(queue, 2, {"x-max-length": 1000})
    client.confirm()
    many = b"".join(publish(queue, b"7" * 100)) * size
    confirmed = sent = 0

    def step():
        nonlocal confirmed, sent
        client.send(many)
        sent += size
        while confirmed < sent:
            if not client.expect((60, 80)):
                raise EOFError
            confirmed = max(confirmed, int.from_bytes(client.payload[4:12], "big"))
        time.sleep(pause)
        return size

    yield from worked(client, step)


@contextlib.contextmanager
def getter(site, queue, work):
    """A client that asks for a message, works on it for `work` seconds, and acknowledges it."""
    client = connect(site)

    def step():
        client.send(method(1, (60, 70), b"\0\0" + short(queue) + b"\0"))
        if client.expect((60, 71), (60, 72)) != (60, 71):
            return 0
        tag = int.from_bytes(client.payload[4:12], "big")
        while client.frame()[0] != 3:
            pass
        time.sleep(work)
        client.ack(tag)
        return 1

    yield from worked(client, step)


@contextlib.contextmanager
def global_prefetch(site, queue, count, work):
    """A consumer whose channel may hold `count` messages, by `basic.qos` with `global`. It works on each for `work` seconds."""
    client = connect(site)
    client.call((60, 10), b"\0\0\0\0" + count.to_bytes(2, "big") + b"\1")
    client.consume(queue)

    def step():
        tag = client.delivery()
        time.sleep(work)
        client.ack(tag)
        return 1

    yield from worked(client, step)


@contextlib.contextmanager
def leaver(site, queue, count):
    """A consumer that takes `count` messages, leaves without an acknowledgement, and comes again."""

    def step():
        client = connect(site)
        client.prefetch(5 * count)
        client.consume(queue)
        for _ in range(count):
            client.delivery()
        client.reset()
        time.sleep(0.2)
        return count

    worker = Worker(step)
    try:
        yield worker
    finally:
        worker.stop()


def worked(client, step):
    """Repeats a step of a client until its end, and resets its connection."""
    worker = Worker(step)
    try:
        yield worker
    finally:
        worker.is_on = False
        client.reset()
        worker.stop()


@contextlib.contextmanager
def small_frames(site, frames, connections=1):
    """Publishers whose messages come in many frames of a few bytes. The reader of a connection joins them; no queue gets them."""
    workers, clients = [], []
    message = publish("nowhere", b"7" * 4 * frames)[:2] + [frame(3, 1, b"7777")] * frames
    many = b"".join(message) * 10
    for _ in range(connections):
        client = connect(site)
        client.socket.settimeout(30)

        def step(client=client):
            client.socket.sendall(many)
            return 10

        clients.append(client)
        workers.append(Worker(step))
    try:
        yield workers
    finally:
        for worker in workers:
            worker.is_on = False
        for client in clients:
            client.reset()
        for worker in workers:
            worker.stop()


@contextlib.contextmanager
def nagle_publisher(site, queue, count=1):
    """Publishers that write each message in two parts, leave Nagle's algorithm on, and wait for each confirm."""
    workers, clients = [], []
    for _ in range(count):
        client = connect(site, nodelay=False)
        client.declare(queue, 2)
        client.confirm()

        def step(client=client):
            head, *rest = publish(queue, b"7" * 40)
            client.send(head)
            client.send(b"".join(rest))
            return 1 if client.expect((60, 80)) else 0

        clients.append(client)
        workers.append(Worker(step))
    try:
        yield workers
    finally:
        for client in clients:
            client.reset()
        for worker in workers:
            worker.stop()
