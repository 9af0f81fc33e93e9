"""Plants: what limits a node, besides its load. Each takes a site, and ends with its block."""

import contextlib
import os
import pathlib
import signal
import threading
import time

import clients
import machine

HERE = pathlib.Path(__file__).parent


def burners(count):
    return lambda site: machine.burners(count)


def cpu_limit(cores):
    return lambda site: machine.cpu_limit(site.pid(), cores)


def one_cpu(burners=0):
    """Binds the node to one CPU, and lets so many others burn it."""
    @contextlib.contextmanager
    def plant(site):
        machine.run("taskset", "-a", "-p", "-c", "0", site.pid())
        with contextlib.ExitStack() as stack:
            for _ in range(burners):
                stack.enter_context(machine.process("taskset", "-c", "0", "sh", "-c", "while :; do :; done", grace=0.1))
            yield
        machine.run("taskset", "-a", "-p", "-c", f"0-{machine.os.cpu_count() - 1}", site.pid())
    return plant


def stopped(running, pause):
    """Stops the node again and again: it runs for `running` seconds, and not for `pause`."""
    @contextlib.contextmanager
    def plant(site):
        # Signals reach this process only, also if it ends and another one gets its number.
        node, ended = os.pidfd_open(site.pid()), threading.Event()

        def stop():
            with contextlib.suppress(ProcessLookupError):
                while not ended.is_set():
                    signal.pidfd_send_signal(node, signal.SIGSTOP)
                    time.sleep(pause)
                    signal.pidfd_send_signal(node, signal.SIGCONT)
                    time.sleep(running)

        thread = threading.Thread(target=stop)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            os.close(node)
    return plant


def write_limit(writes):
    def plant(site):
        return machine.write_limit(site.pid(), machine.device_of(site.nodes[0]["directory"]), writes)
    return plant


def read_limit(bytes_a_second):
    """Limits what the node reads from its disk, of which the kernel keeps nothing in memory."""
    @contextlib.contextmanager
    def plant(site):
        machine.run("sync")
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("1")
        with machine.read_limit(site.pid(), machine.device_of(site.nodes[0]["directory"]), bytes_a_second):
            yield
    return plant


def slow_clients(rate, packets):
    """Limits what the node sends to its clients."""
    return lambda site: machine.slow_link(site.network, [site.port()], rate, packets)


def narrow_path(bytes_a_second):
    """Limits what reaches clients on a far path. Its packets wait, and those that find no room are lost."""
    @contextlib.contextmanager
    def plant(site):
        site.path.rate = bytes_a_second
        try:
            yield
        finally:
            site.path.rate = None
    return plant


def lossy_path(share):
    """Loses a share of the packets to clients on a far path."""
    @contextlib.contextmanager
    def plant(site):
        site.path.loss = share
        try:
            yield
        finally:
            site.path.loss = 0
    return plant


def slow_nodes(rate, packets):
    """Limits traffic between the nodes of a cluster."""
    def plant(site):
        return machine.slow_link(site.network, site.distribution_ports(), rate, packets, is_answer_slow=False)
    return plant


def lock(table, writers):
    @contextlib.contextmanager
    def plant(site):
        file = HERE / "locks.erl"
        site.evaluate(f'{{ok, M, Code}} = compile:file("{file}", [binary]), {{module, M}} = code:load_binary(M, "{file}", Code), '
                      f"locks:start({table}, {writers}).")
        try:
            yield
        finally:
            site.evaluate("locks:stop().")
    return plant


def disk_alarm(index=0):
    """Demands more free bytes of a node than there are, as an operator would."""
    @contextlib.contextmanager
    def plant(site):
        before = site.evaluate("rabbit_disk_monitor:get_disk_free_limit().", index).strip()
        site.evaluate("rabbit_disk_monitor:set_disk_free_limit(1000000000000000).", index)
        try:
            yield
        finally:
            site.evaluate(f"rabbit_disk_monitor:set_disk_free_limit({before}).", index)
    return plant


@contextlib.contextmanager
def flapping_alarm(site):
    """Raises the alarm of the disk for two seconds, and lowers it for half of one, again and again."""
    before = site.evaluate("rabbit_disk_monitor:get_disk_free_limit().").strip()
    ended = threading.Event()

    def flap():
        while not ended.is_set():
            site.evaluate("rabbit_disk_monitor:set_disk_free_limit(1000000000000000).")
            ended.wait(2)
            site.evaluate(f"rabbit_disk_monitor:set_disk_free_limit({before}).")
            ended.wait(0.5)

    thread = threading.Thread(target=flap)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        site.evaluate(f"rabbit_disk_monitor:set_disk_free_limit({before}).")


def batches(queue, size, pause):
    return lambda site: clients.batches(site, queue, size, pause)


def getter(queue, work):
    return lambda site: clients.getter(site, queue, work)


def leaver(queue, count):
    return lambda site: clients.leaver(site, queue, count)


def global_prefetch(queue, count, work):
    return lambda site: clients.global_prefetch(site, queue, count, work)


def slow_reader(queue, bytes_a_second, count=1):
    return lambda site: clients.slow_reader(site, queue, bytes_a_second, count)


def small_frames(frames, connections=1):
    return lambda site: clients.small_frames(site, frames, connections)


def nagle(queue, count):
    return lambda site: clients.nagle_publisher(site, queue, count)


def far_queue(queue, kind):
    """Declares a queue on the first node, before its clients come to another one."""
    def prepare(site):
        client = clients.connect(site)
        client.call((50, 40), clients.deletion(queue))
        client.declare(queue, 2, {"x-queue-type": kind, **({"x-max-length": 1000} if kind == "classic" else {})})
        client.close()
        time.sleep(0.5)
    return prepare
