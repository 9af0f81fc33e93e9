"""Continues messaging.py: HTTP, distribution, port mapper; makes all attempts."""


# HTTP

def basic_login(login): return 'Basic ' + base64.b64encode(':'.join(login).encode()).decode()


def http_request(port, method, path, authorization=None, body=b'', form=False, public=False):
    connection = Plain(port)
    headers = f'Authorization: {authorization}\r\n' if authorization else ''
    kind = 'application/x-www-form-urlencoded' if form else 'application/json'
    connection.send((f'{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}'
                     f'Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n').encode() + body)
    answer = connection.rest()
    code = int(answer.split(b' ', 2)[1])
    # A page that a release lacks is refused like one that demands a login.
    refusals = (401, 403, 404) if public else (401, 403)
    verdict = 'refused' if code in refusals else 'admitted' if code < 400 else 'unclear'
    return ('public' if public and verdict == 'admitted' else verdict), f'status {code}, {len(answer)} bytes'


def management(port):
    paths = ['whoami', 'overview', 'definitions', 'users', 'connections', 'queues', 'nodes', 'cluster-name', 'vhosts',
             'parameters', 'traces', 'top/' + GIVEN['node'], 'shovels', 'federation-links', 'stream/connections',
             'health/checks/alarms', 'aliveness-test/%2F', 'permissions', 'auth/attempts/' + GIVEN['node']]
    for name, login in LOGINS.items():
        authorization = basic_login(login)
        for path in ['whoami'] if KNOWN else paths:
            yield f'{path} {name}', lambda p=path, a=authorization: http_request(port, 'GET', '/api/' + p, a)
        form = urllib.parse.urlencode({'username': login[0], 'password': login[1]}).encode()
        yield f'login {name}', lambda f=form: http_request(port, 'POST', '/api/login', body=f, form=True)
    if KNOWN:
        return
    for path in paths:
        yield f'{path} no login', lambda p=path: http_request(port, 'GET', '/api/' + p)
    yield 'whoami bearer', lambda: http_request(port, 'GET', '/api/whoami', 'Bearer guest')
    user = b'{"password": "x", "tags": "administrator"}'
    yield 'add a user', lambda: http_request(port, 'PUT', '/api/users/stranger', body=user)
    yield 'send definitions', lambda: http_request(port, 'POST', '/api/definitions', body=b'{}')
    yield 'remove a user', lambda: http_request(port, 'DELETE', '/api/users/guest')
    for path in ('/', '/api/auth', '/cli/index.html', '/api/index.html'):
        yield f'page {path}', lambda p=path: http_request(port, 'GET', p, public=True)


def prometheus(port):
    for path in ('', '/per-object', '/detailed?family=queue_coarse_metrics&family=connection_metrics'):
        if not KNOWN:
            yield f'metrics{path}', lambda p='/metrics' + path: http_request(port, 'GET', p, public=True)


# Distribution and port mapper

# What OTP 25 demands, the handshake of OTP 23, and what OTP 26 and later demand.
FLAGS = 0x4 | 0x10 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x20000 | 0x40000 | 1 << 24 | 1 << 25 | 1 << 34


def packet(connection, data=None):
    if data is not None:
        return connection.send(struct.pack('>H', len(data)) + data)
    return connection.read(struct.unpack('>H', connection.read(2))[0])


def challenge(port, name):
    """The connection, and the node's challenge, or None."""
    connection = Plain(port)
    encoded = name.encode()
    packet(connection, b'N' + struct.pack('>QIH', FLAGS, 1, len(encoded)) + encoded)
    if packet(connection) not in (b'sok', b'sok_simultaneous'):
        return connection, None
    return connection, struct.unpack('>I', packet(connection)[9:13])[0]


def digest(cookie, number): return hashlib.md5(cookie.encode() + str(number).encode()).digest()


def answer_challenge(connection, own, proof):
    packet(connection, b'r' + struct.pack('>I', own) + proof)
    tag = packet(connection)[:1]
    return ('admitted' if tag == b'a' else 'unclear'), f'answer {tag!r}'


def handshake(port, cookie, name='stranger@localhost'):
    connection, number = challenge(port, name)
    if number is None:
        return 'refused', 'status'
    return answer_challenge(connection, 7, digest(cookie, number))


def reflection(port):
    """Asks the node itself for the proof, on a second connection."""
    first, number = challenge(port, 'first@localhost')
    second, _ = challenge(port, 'second@localhost')
    try:
        packet(second, b'r' + struct.pack('>I', number) + digest('', number))
        proof = packet(second)[1:17]
    except Closed:
        proof = struct.pack('>I', number) * 4
    return answer_challenge(first, number, proof)


def skipped_proof(port):
    """Goes on without the proof: a message for the process `rex`."""
    connection, _ = challenge(port, 'skipping@localhost')
    connection.send(struct.pack('>I', 3) + b'p\x83\x6a')
    return 'admitted', f'{connection.read(1)!r}'


def distribution(port):
    if KNOWN:
        yield 'the cookie', lambda: handshake(port, GIVEN['cookie'])
        return
    for cookie in ('', 'nocookie', 'guest'):
        yield f'cookie {cookie!r}', lambda c=cookie: handshake(port, c)
    yield 'name of the node', lambda: handshake(port, 'guest', GIVEN['node'])
    yield 'reflection', lambda: reflection(port)
    yield 'no proof', lambda: skipped_proof(port)


def mapper_request(port, request):
    connection = Plain(port)
    packet(connection, request)
    return connection.rest()


def mapper(port):
    def names(): return mapper_request(port, b'n')
    short_name = GIVEN['node'].split('@')[0]

    def demand(request, granted):
        answer = mapper_request(port, request)
        is_there = short_name.encode() in names()
        return ('refused' if is_there and not granted(answer) else 'admitted'), f'{answer[:40]!r}'

    if KNOWN:
        return
    listed = lambda: ('public' if short_name.encode() in names() else 'unclear', '')
    yield 'names', listed
    yield 'kill', lambda: demand(b'k', lambda answer: answer == b'OK')
    yield 'stop', lambda: demand(b's' + short_name.encode(), lambda answer: answer.startswith(b'STOPPED'))
    # The name of the node for a port of ours. ALIVE2_RESP and ALIVE2_X_RESP have the result second, 0 for success.
    own = struct.pack('>HBBHHH', port, 77, 0, 6, 5, len(short_name)) + short_name.encode() + b'\0\0'
    yield 'name of the node', lambda: register(port, b'x' + own)
    yield 'names at the end', listed


def register(port, request):
    connection = Plain(port)
    packet(connection, request)
    answer = connection.read(2)
    return ('admitted' if answer[1] == 0 else 'refused'), f'{answer!r}'


ATTEMPTS = {'amqp': amqp, 'mqtt': mqtt, 'stomp': stomp, 'stream': stream, 'http': management,
            'http/prometheus': prometheus, 'http/web-mqtt': web_mqtt, 'http/web-stomp': web_stomp,
            'distribution': distribution}


def attempt(protocol, name, function):
    try:
        verdict, detail = function()
    except Closed:
        verdict, detail = 'refused', 'closed'
    except Exception as error:
        verdict, detail = 'unclear', repr(error)
    return f'{protocol} {name}: {verdict} {detail}'


with concurrent.futures.ThreadPoolExecutor(24) as pool:
    running = []
    for listener in GIVEN['listeners'] + [{'protocol': 'distribution', 'port': GIVEN['distribution']}]:
        protocol, port = listener['protocol'], listener['port']
        if protocol not in ATTEMPTS:
            print(f'{protocol} port {port}: forgotten')
            continue
        running += [pool.submit(attempt, protocol, *each) for each in ATTEMPTS[protocol](port)]
    for each in running:
        print(each.result())
# One after the other: a granted request would end what the next one asks.
for name, function in mapper(GIVEN['mapper']):
    print(attempt('epmd', name, function))
print('== received')
print(received.decode('latin-1').encode('ascii', 'backslashreplace').decode())
