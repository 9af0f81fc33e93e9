"""AMQP 0-9-1 by hand, so that a client can do everything wrong. Correct clients are in `clients/`."""

import socket
import struct

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

    def __init__(self, port, login=None, vhost="/", heartbeat=0, capabilities=True, channel=True, nodelay=True,
                 host="127.0.0.1", name=""):
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
        self.socket.settimeout(10)
        self.bytes = b""
        login = login or ("guest", PASSWORDS[port])
        self.send(b"AMQP\0\0\x09\x01")
        self.expect((10, 10))
        properties = table({**({"capabilities": CAPABILITIES} if capabilities else {}), **({"connection_name": name} if name else {})})
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
# Passwords of guest by port: of AMQP, and of streams.
PASSWORDS = {}
