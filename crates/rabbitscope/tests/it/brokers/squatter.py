"""Takes ports that a throwaway broker is about to bind, as another local user would.

Usage: squatter.py LOG READY [STEP]. Holds every STEP-th port of the range, by default every other one, and takes any
other port of the range at the moment when its user lets it go. Writes a line to LOG for each port taken, and for each
connection that it receives.
"""
import errno, os, resource, select, socket, sys, time

FIRST, END = 10_000, 32_000
STEP = int(sys.argv[3]) if len(sys.argv) > 3 else 2
log = open(sys.argv[1], 'a', buffering=1)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
poll = select.epoll()
listeners, accepted, used = {}, [], set()


def bind(port):
    """A listener, or None while the port is in use."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind(('127.0.0.1', port))
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return listener


def keep(port, listener):
    listener.setblocking(False)
    listeners[listener.fileno()] = (port, listener)
    poll.register(listener.fileno(), select.EPOLLIN)


def serve():
    for descriptor, _ in poll.poll(0):
        port, listener = listeners[descriptor]
        try:
            connection, peer = listener.accept()
        except OSError:
            continue
        connection.setblocking(False)
        accepted.append(connection)
        log.write(f'connection at {port} from {peer[1]}\n')


def hold(ports):
    for port in ports:
        listener = bind(port)
        if listener:
            keep(port, listener)


def hold_in_child(ports):
    """A child that holds ports for as long as this process lives: a process may not have as many open files."""
    parent = os.getpid()
    holds, done = os.pipe()
    if os.fork() == 0:
        hold(ports)
        os.close(done)
        while os.getppid() == parent:
            serve()
            time.sleep(0.1)
        os._exit(0)
    os.close(done)
    os.read(holds, 1)


held = range(FIRST, END, STEP)
PART = 5_500
if len(held) > 2 * PART:
    for start in range(0, len(held), PART):
        hold_in_child(held[start:start + PART])
else:
    hold(held)
open(sys.argv[2], 'w').close()
others = [port for port in range(FIRST, END) if port % STEP != FIRST % STEP]
while True:
    if not others:
        time.sleep(0.1)
        serve()
    # Finds the ports that are in use; a port that is free is not kept, so that there is something to draw.
    for step, port in enumerate(others):
        listener = bind(port)
        if listener and port in used:
            log.write(f'took {port}\n')
            keep(port, listener)
        elif listener:
            listener.close()
        else:
            used.add(port)
        if step % 64 == 0:
            serve()
            for target in list(used):
                taken = bind(target)
                if taken:
                    used.discard(target)
                    others = [port for port in others if port != target]
                    log.write(f'took {target}\n')
                    keep(target, taken)
