"""Attempts to get into a throwaway broker, as another local user, by raw bytes of every protocol that it speaks.

Standard input: JSON with the name of the node, its listeners, ports of distribution and port mapper, and the true logins:
user, password, cookie, or null for a stranger who knows none of them. Prints one line for each attempt,
`PROTOCOL ATTEMPT: VERDICT detail`, and at the end everything that it received.

Verdicts: `admitted`, `refused`; `public`: answered without any login; `unclear`: none of these; `forgotten`: a protocol
for which there is no attempt.
"""
import base64, concurrent.futures, hashlib, json, os, socket, struct, sys, threading, urllib.parse

GIVEN = json.load(sys.stdin)
KNOWN = GIVEN['password'] is not None
# Names and passwords of an attempt, the empty ones included.
LOGINS = {'the password': (GIVEN['user'], GIVEN['password'])} if KNOWN else {
    'guest/guest': ('guest', 'guest'), 'guest/empty': ('guest', ''), 'empty/empty': ('', ''),
    'none/none': ('none', 'none')}
TIMEOUT = 20
received, received_lock = bytearray(), threading.Lock()


class Closed(Exception):
    """The broker has hung up."""


class Plain:
    """A TCP connection."""

    def __init__(self, port):
        self.socket, self.unread = socket.create_connection(('127.0.0.1', port), TIMEOUT), b''

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Closed() from error

    def some(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionError as error:
            raise Closed() from error
        if not data:
            raise Closed()
        with received_lock:
            received.extend(data)
        return data

    def read(self, length):
        while len(self.unread) < length:
            self.unread += self.some()
        data, self.unread = self.unread[:length], self.unread[length:]
        return data

    def rest(self):
        """All until the broker hangs up."""
        try:
            while True:
                self.unread += self.some()
        except Closed:
            return self.unread


class WebSocket:
    """What goes through binary or text messages of a WebSocket (RFC 6455), without fragments."""

    def __init__(self, port, protocol, opcode, header=''):
        self.plain, self.opcode, self.unread = Plain(port), opcode, b''
        key = base64.b64encode(os.urandom(16)).decode()
        self.plain.send((f'GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                         f'Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n'
                         f'Sec-WebSocket-Protocol: {protocol}\r\n{header}\r\n').encode())
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            head += self.plain.read(1)
        if b' 101 ' not in head.split(b'\r\n')[0]:
            raise ValueError(f'no WebSocket: {head!r}')

    def send(self, data):
        mask = os.urandom(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else b'\xfe' + struct.pack('>H', len(data))
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.plain.send(bytes([0x80 | self.opcode]) + length + mask + masked)

    def read(self, length):
        while len(self.unread) < length:
            first, size = self.plain.read(2)
            size = struct.unpack('>H', self.plain.read(2))[0] if size == 126 else size
            data = self.plain.read(size)
            if first & 15 == 8:
                raise Closed()
            self.unread += data if first & 15 in (0, 1, 2) else b''
        data, self.unread = self.unread[:length], self.unread[length:]
        return data


def text16(value): return struct.pack('>H', len(value.encode())) + value.encode()
def bytes32(value): return struct.pack('>I', len(value)) + value
def plain_response(login): return b'\0' + login[0].encode() + b'\0' + login[1].encode()


