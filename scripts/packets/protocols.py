"""Faults of the other protocols: MQTT, RabbitMQ's streams, AMQP 1.0, TLS; and of the path between client and broker."""

import socket
import struct
import time

from amqp import EXCLUSIVE, PASSWORDS, Client, long, publish
from faults import raw


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

def mqtt_session(port, identifier, keep_alive=60):
    user, password = b"guest", PASSWORDS[port].encode()
    texts = b"".join(stream_text(text) for text in (identifier, user, password))
    body = b"\0\4MQTT\4\xc2" + struct.pack(">H", keep_alive) + texts
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(5)
    connection.sendall(bytes([0x10, len(body)]) + body)
    connection.recv(4)
    return connection


def taken_over(ports):
    """Two clients with one identifier; each reconnects after a disconnection."""
    clients = []
    for _ in range(8):
        clients.append(mqtt_session(ports["mqtt"], b"the-same"))
        time.sleep(0.15)
    clients.pop().sendall(b"\xe0\0")
    time.sleep(0.1)
    for client in clients:
        client.close()


def keep_alive_missed(ports):
    connection = mqtt_session(ports["mqtt"], b"silent", 1)
    time.sleep(3)
    connection.close()


def left_without_disconnect(ports):
    connection = mqtt_session(ports["mqtt"], b"leaves")
    connection.close()
    time.sleep(0.1)


def value10(item):
    if item is None:
        return b"\x40"
    if isinstance(item, (bool, int)):
        return (b"\x41" if item else b"\x42") if isinstance(item, bool) else b"\x70" + struct.pack(">I", item)
    if isinstance(item, str):
        return b"\xa1" + bytes([len(item)]) + item.encode()
    if isinstance(item, bytes):
        return b"\xb0" + long(item)
    return described(*item)


def symbol10(text):
    return b"\xa3" + bytes([len(text)]) + text.encode()


def described(code, *fields):
    parts = b"".join(field if isinstance(field, bytearray) else value10(field) for field in fields)
    return b"\0\x53" + bytes([code]) + b"\xd0" + struct.pack(">II", len(parts) + 4, len(fields)) + parts


def frame10(kind, performative):
    return struct.pack(">IBBH", len(performative) + 8, 2, kind, 0) + performative


def no_such_node(ports):
    """A receiver of AMQP 1.0 on a queue that does not exist."""
    port = ports["amqp10"]
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(5)
    def ask(data):
        connection.sendall(data)
        time.sleep(0.2)
        try:
            return connection.recv(65536)
        except OSError:
            return b""
    ask(b"AMQP\3\1\0\0")
    ask(frame10(1, described(0x41, bytearray(symbol10("PLAIN")), b"\0guest\0" + PASSWORDS[port].encode())))
    ask(b"AMQP\0\1\0\0")
    ask(frame10(0, described(0x10, "planted", "")))
    ask(frame10(0, described(0x11, None, bytearray(b"\x52\0"), 100, 100, 10)))
    source = (0x28, "/amq/queue/never-there")
    ask(frame10(0, described(0x12, "link", bytearray(b"\x52\0"), True, None, None, source, (0x29, "here"))))
    time.sleep(0.3)
    connection.close()


def other_end_gone(path, ports):
    """The cable is pulled while a client publishes."""
    client = Client(ports["amqp"], host=path.host)
    path.mode = "gone"
    for _ in range(3):
        client.send(b"".join(publish("nowhere", b"x")))
        time.sleep(1)
    client.reset()
    path.mode = "on"


def balancer_forgets(path, ports):
    client = Client(ports["amqp"], host=path.host)
    client.declare("idle-%d" % client.socket.getsockname()[1], EXCLUSIVE)
    time.sleep(0.5)
    path.mode = "forgotten"
    time.sleep(11)
    try:
        client.send(b"".join(publish("nowhere", b"x")))
        time.sleep(0.3)
        client.send(b"x")
    except OSError:
        pass
    client.socket.close()
    path.mode = "on"


def no_answer(path, ports):
    path.mode = "gone"
    with socket.socket() as connection:
        connection.settimeout(2.5)
        try:
            connection.connect((path.host, ports["amqp"]))
        except OSError:
            pass
    path.mode = "on"
