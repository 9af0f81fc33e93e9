"""Continues connections.py: the protocols that carry messages."""


# AMQP 0-9-1

def amqp_frame(payload): return struct.pack('>BHI', 1, 0, len(payload)) + payload + b'\xce'


def amqp_method(connection):
    """Class and method of the next frame."""
    kind = connection.read(1)
    if kind == b'A':
        raise Closed()
    _, size = struct.unpack('>HI', connection.read(6))
    return struct.unpack('>HH', connection.read(size + 1)[:4])


def amqp_login(port, mechanism, response, version=b'\0\0\x09\x01'):
    connection = Plain(port)
    connection.send(b'AMQP' + version)
    assert amqp_method(connection) == (10, 10), 'start'
    name = mechanism.encode()
    connection.send(amqp_frame(struct.pack('>HHI', 10, 11, 0) + bytes([len(name)]) + name + bytes32(response)
                               + b'\x05en_US'))
    method = amqp_method(connection)
    return {(10, 30): 'admitted', (10, 50): 'refused'}.get(method, 'unclear'), f'method {method}'


def amqp_without_login(port):
    connection = Plain(port)
    connection.send(b'AMQP\0\0\x09\x01')
    amqp_method(connection)
    connection.send(amqp_frame(struct.pack('>HHHIH', 10, 31, 0, 131072, 0)))
    connection.send(amqp_frame(struct.pack('>HH', 10, 40) + b'\x01/\0\0'))
    method = amqp_method(connection)
    return {(10, 41): 'admitted', (10, 50): 'refused'}.get(method, 'unclear'), f'method {method}'


def amqplain(login):
    pairs = (('LOGIN', login[0]), ('PASSWORD', login[1]))
    return b''.join(bytes([len(name)]) + name.encode() + b'S' + bytes32(value.encode()) for name, value in pairs)


# AMQP 1.0

def described(code, *items):
    body = b''.join(items)
    return b'\0\x53' + bytes([code]) + (b'\xc0' + bytes([len(body) + 1, len(items)]) + body)


def short(code, data): return bytes([code, len(data)]) + data
def amqp1_frame(kind, body): return struct.pack('>IBBH', 8 + len(body), 2, kind, 0) + body


def amqp1_answer(connection):
    """Code of the performative, and the frame's body."""
    while True:
        size = struct.unpack('>IBBH', connection.read(8))[0]
        body = connection.read(size - 8)
        if body:
            return body[2], body


def amqp1_header(connection, protocol):
    header = b'AMQP' + bytes([protocol]) + b'\x01\0\0'
    connection.send(header)
    answer = connection.read(8)
    if answer != header:
        return 'refused', f'header {answer!r}'


def amqp1_begin(connection):
    null = b'\x40'
    connection.send(amqp1_frame(0, described(0x10, short(0xa1, b'stranger'))))
    connection.send(amqp1_frame(0, described(0x11, null, b'\x43', b'\x52\x7f', b'\x52\x7f', b'\x52\x7f')))
    target, source = described(0x29, short(0xa1, b'/queue/strangers')), described(0x28, short(0xa1, b'x'))
    connection.send(amqp1_frame(0, described(0x12, short(0xa1, b'link'), b'\x43', b'\x42', b'\x50\0', b'\x50\0',
                                             source, target, null, null, b'\x43')))
    while True:
        code, _ = amqp1_answer(connection)
        if code != 0x10:
            return {0x11: 'admitted', 0x18: 'refused'}.get(code, 'unclear'), f'performative {code:#x}'


def amqp1_login(port, mechanism, response):
    connection = Plain(port)
    other = amqp1_header(connection, 3)
    if other:
        return other
    assert amqp1_answer(connection)[0] == 0x40, 'mechanisms'
    connection.send(amqp1_frame(1, described(0x41, short(0xa3, mechanism.encode()), short(0xa0, response))))
    code, body = amqp1_answer(connection)
    if code != 0x44 or b'\x50\0' not in body:
        return 'refused', f'outcome {body!r}'
    return amqp1_header(connection, 0) or amqp1_begin(connection)


def amqp1_without_login(port, negotiated):
    connection = Plain(port)
    if negotiated:
        amqp1_header(connection, 3)
        amqp1_answer(connection)
    return amqp1_header(connection, 0) or amqp1_begin(connection)


def amqp(port):
    for name, login in LOGINS.items():
        response = plain_response(login)
        yield f'0-9-1 PLAIN {name}', lambda r=response: amqp_login(port, 'PLAIN', r)
        yield f'0-9-1 AMQPLAIN {name}', lambda r=amqplain(login): amqp_login(port, 'AMQPLAIN', r)
        yield f'0-8 PLAIN {name}', lambda r=response: amqp_login(port, 'PLAIN', r, b'\x01\x01\x08\0')
        yield f'1.0 PLAIN {name}', lambda r=response: amqp1_login(port, 'PLAIN', r)
        yield f'1.0 AMQPLAIN {name}', lambda r=amqplain(login): amqp1_login(port, 'AMQPLAIN', r)
    if KNOWN:
        return
    for mechanism in ('ANONYMOUS', 'EXTERNAL', 'RABBIT-CR-DEMO', 'NOSUCH', ''):
        for response in (b'', b'guest'):
            yield f'0-9-1 {mechanism} {response}', lambda m=mechanism, r=response: amqp_login(port, m, r)
            yield f'1.0 {mechanism} {response}', lambda m=mechanism, r=response: amqp1_login(port, m, r)
    yield '0-9-1 open without login', lambda: amqp_without_login(port)
    yield '1.0 without SASL', lambda: amqp1_without_login(port, False)
    yield '1.0 open instead of SASL', lambda: amqp1_without_login(port, True)


# MQTT

def mqtt_packet(kind, body):
    assert len(body) < 128
    return bytes([kind, len(body)]) + body


def mqtt_connect(connection, level, user, password):
    name = text16('MQIsdp' if level == 3 else 'MQTT')
    flags = 2 | (0x80 if user is not None else 0) | (0x40 if password is not None else 0)
    client = text16('stranger' + os.urandom(4).hex())
    body = name + bytes([level, flags, 0, 60]) + (b'\0' if level == 5 else b'') + client
    body += b''.join(text16(value) for value in (user, password) if value is not None)
    connection.send(mqtt_packet(0x10, body))
    kind, _ = connection.read(2)
    _, code = connection.read(2)
    return ('unclear' if kind != 0x20 else 'refused' if code else 'admitted'), f'code {code}'


def mqtt_without_connect(connection, packet):
    connection.send(packet)
    return 'admitted', f'packet {connection.read(1)!r}'


def mqtt(port, dial=Plain):
    for level in (3, 4, 5):
        for name, login in LOGINS.items():
            yield f'{level} {name}', lambda v=level, l=login: mqtt_connect(dial(port), v, *l)
        if not KNOWN:
            yield f'{level} no user', lambda v=level: mqtt_connect(dial(port), v, None, None)
            yield f'{level} no password', lambda v=level: mqtt_connect(dial(port), v, 'guest', None)
    if not KNOWN:
        subscribe = mqtt_packet(0x82, b'\0\x01' + text16('#') + b'\0')
        yield 'subscribe without connect', lambda: mqtt_without_connect(dial(port), subscribe)
        publish = mqtt_packet(0x32, text16('stranger') + b'\0\x01x')
        yield 'publish without connect', lambda: mqtt_without_connect(dial(port), publish)


def web_mqtt(port): return mqtt(port, lambda port: WebSocket(port, 'mqtt', 2))


# STOMP

def stomp_frame(connection, command, headers):
    lines = ''.join(f'{name}:{value}\n' for name, value in headers.items())
    connection.send(f'{command}\n{lines}\n\0'.encode())
    answer = b''
    while not answer.endswith(b'\0'):
        answer += connection.read(1)
    words = answer.strip().split(b'\n')[0]
    return {b'CONNECTED': 'admitted', b'RECEIPT': 'admitted', b'ERROR': 'refused'}.get(words, 'unclear'), f'{words!r}'


def stomp(port, dial=Plain):
    common = {'accept-version': '1.0,1.1,1.2', 'host': '/'}
    for name, (user, password) in LOGINS.items():
        headers = {**common, 'login': user, 'passcode': password}
        for command in ('CONNECT', 'STOMP'):
            yield f'{command} {name}', lambda c=command, h=headers: stomp_frame(dial(port), c, h)
    if KNOWN:
        return
    yield 'CONNECT no login', lambda: stomp_frame(dial(port), 'CONNECT', common)
    yield 'CONNECT no passcode', lambda: stomp_frame(dial(port), 'CONNECT', {**common, 'login': 'guest'})
    for command in ('SEND', 'SUBSCRIBE'):
        headers = {'destination': '/topic/strangers', 'id': '1', 'receipt': '1'}
        yield f'{command} without connect', lambda c=command, h=headers: stomp_frame(dial(port), c, h)


def web_stomp(port):
    yield from stomp(port, lambda port: WebSocket(port, 'v12.stomp', 1))
    if not KNOWN:
        basic = f'Authorization: {basic_login(("guest", "guest"))}\r\n'
        yield 'CONNECT basic guest/guest', lambda: stomp_frame(
            WebSocket(port, 'v12.stomp', 1, basic), 'CONNECT', {'accept-version': '1.2', 'host': '/'})


# Streams

def stream_request(connection, key, body):
    """Code of the response, 1 for success."""
    connection.send(bytes32(struct.pack('>HHI', key, 1, key) + body))
    while True:
        size = struct.unpack('>I', connection.read(4))[0]
        frame = connection.read(size)
        answered = struct.unpack('>H', frame[:2])[0]
        if answered == key | 0x8000:
            return struct.unpack('>H', frame[8:10])[0]
        if answered == 0x16:
            raise Closed()


def stream_login(port, mechanism, response):
    connection = Plain(port)
    stream_request(connection, 0x11, struct.pack('>I', 0))
    stream_request(connection, 0x12, b'')
    code = stream_request(connection, 0x13, text16(mechanism) + bytes32(response))
    return ('admitted' if code == 1 else 'refused'), f'code {code}'


def stream_without_login(port, key, body):
    connection = Plain(port)
    stream_request(connection, 0x11, struct.pack('>I', 0))
    connection.send(bytes32(struct.pack('>HHII', 0x14, 1, 0, 0)))
    code = stream_request(connection, key, body)
    return ('admitted' if code == 1 else 'refused'), f'code {code}'


def stream(port):
    for name, login in LOGINS.items():
        yield f'PLAIN {name}', lambda r=plain_response(login): stream_login(port, 'PLAIN', r)
        yield f'AMQPLAIN {name}', lambda r=amqplain(login): stream_login(port, 'AMQPLAIN', r)
    if KNOWN:
        return
    for mechanism in ('ANONYMOUS', 'EXTERNAL', 'NOSUCH'):
        yield mechanism, lambda m=mechanism: stream_login(port, m, b'guest')
    yield 'open without login', lambda: stream_without_login(port, 0x15, text16('/'))
    create = text16('strangers') + struct.pack('>I', 0)
    yield 'create without login', lambda: stream_without_login(port, 0x0d, create)


