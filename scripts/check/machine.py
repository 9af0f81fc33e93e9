"""What a plant needs of this machine: programs, separate networks, control groups, disks. Everything is undone at the end."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(os.environ.get("RABBITSCOPE", "target/release/rabbitscope"))
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def run(*words, check=True, timeout=60, **options):
    """Runs a command, and returns its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()[-800:]}")
    return done.stdout


def run_with_use(*words, timeout=60, **options):
    """Runs a command. Returns its output, its CPU time in seconds, and its largest memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The kernel tells the largest memory of all children so far, so a child of its own runs the command.
    program = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); " \
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, timeout=timeout, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()[-800:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, cpu, int(done.stderr.split()[-1]) / 1024


@contextlib.contextmanager
def process(*words, grace=10, **options):
    """Runs a program until the end of the block: SIGINT, and SIGKILL after `grace` seconds."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
    child = subprocess.Popen([str(word) for word in words], **options)
    try:
        yield child
    finally:
        end(child, grace)


def end(child, grace):
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextlib.contextmanager
def burners(count):
    """Burns CPU time in `count` processes."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(process("sh", "-c", "while :; do :; done", grace=0.1))
        yield


@contextlib.contextmanager
def network():
    """A separate network with nothing but `lo`, whose packets have the size of an Ethernet's. Yields its name."""
    name = f"bench-check-{os.getpid()}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "-n", name, "link", "set", "lo", "up", "mtu", 1500)
        yield name
    finally:
        run("ip", "netns", "delete", name, check=False)


@contextlib.contextmanager
def slow_link(name, ports, rate, limit, is_answer_slow=True):
    """Limits traffic from these TCP ports (and to them unless only answers are slow) on the `lo` of a network.

    `rate` is as for `tc`, `limit` the number of waiting packets above which one is dropped.
    """
    tc = ["tc", "-n", name]
    run(*tc, "qdisc", "add", "dev", "lo", "root", "handle", "1:", "htb", "default", "10", "r2q", "100")
    try:
        run(*tc, "class", "add", "dev", "lo", "parent", "1:", "classid", "1:10", "htb", "rate", "10gbit", "quantum", "60000")
        run(*tc, "class", "add", "dev", "lo", "parent", "1:", "classid", "1:20", "htb", "rate", rate, "burst", "15k", "quantum", "1514")
        run(*tc, "qdisc", "add", "dev", "lo", "parent", "1:20", "handle", "20:", "pfifo", "limit", limit)
        ends = ["sport"] if is_answer_slow else ["sport", "dport"]
        for port in ports:
            for which in ends:
                run(*tc, "filter", "add", "dev", "lo", "parent", "1:", "protocol", "ip", "u32", "match", "ip", which, port, "0xffff",
                    "flowid", "1:20")
        yield
    finally:
        run(*tc, "qdisc", "delete", "dev", "lo", "root", check=False)


@contextlib.contextmanager
def control_group(pid, controller, settings):
    """Moves a process into a control group of its own with these settings (file, text), and back."""
    unified = (CGROUPS / "cgroup.controllers").exists()
    top = CGROUPS if unified else CGROUPS / controller
    here = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
    column = "" if unified else controller
    path = next(line.split(":", 2)[2] for line in here.splitlines() if column in line.split(":")[1].split(","))
    group = top / f"bench-check-{os.getpid()}"
    if unified:
        with contextlib.suppress(OSError):
            (top / "cgroup.subtree_control").write_text("+" + {"blkio": "io"}.get(controller, controller))
    group.mkdir(exist_ok=True)
    try:
        for file, text in settings(unified):
            (group / file).write_text(text)
        (group / "cgroup.procs").write_text(str(pid))
        yield group
    finally:
        leave(group, top / path.lstrip("/"), settings(unified))


def leave(group, before, settings):
    """Sends the processes of a control group back. A limit is lifted first, so that waiting I/O ends."""
    for file, text in settings:
        if file.startswith("blkio"):
            (group / file).write_text(text.split()[0] + " 0")
    for _ in range(50):
        for member in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (before / "cgroup.procs").write_text(member)
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.1)


def cpu_limit(pid, cores):
    """Limits a process to so many cores, in periods of 100 ms."""
    quota = int(cores * 100_000)
    return control_group(pid, "cpu", lambda unified: [("cpu.max", f"{quota} 100000")] if unified else [("cpu.cfs_quota_us", str(quota))])


def write_limit(pid, device, writes):
    """Limits a process to so many writes a second on a device (major:minor)."""
    settings = lambda unified: [("io.max", f"{device} wiops={writes}")] if unified else [
        ("blkio.throttle.write_iops_device", f"{device} {writes}")]
    return control_group(pid, "blkio", settings)


def read_limit(pid, device, bytes_a_second):
    """Limits what a process reads from a device (major:minor)."""
    settings = lambda unified: [("io.max", f"{device} rbps={bytes_a_second}")] if unified else [
        ("blkio.throttle.read_bps_device", f"{device} {bytes_a_second}")]
    return control_group(pid, "blkio", settings)


def device_of(path):
    """Returns major:minor of the disk with a path; for a partition that of its disk."""
    number = os.stat(path).st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    whole = pathlib.Path(f"/sys/dev/block/{name}").resolve()
    return (whole.parent / "dev").read_text().strip() if (whole / "partition").exists() else name


@contextlib.contextmanager
def loop_disk(megabytes=1500):
    """A file system on a loop device. Yields its mount point."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="bench-check-disk-", dir=os.environ.get("BENCH_CHECK_DISK", "/tmp")))
    image, mount = place / "image", place / "mount"
    mount.mkdir()
    loop = ""
    try:
        run("fallocate", "-l", f"{megabytes}M", image)
        loop = run("losetup", "--find", "--show", "--direct-io=on", image).strip()
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", loop)
        run("mount", loop, mount)
        yield mount
    finally:
        for _ in range(20):
            if not os.path.ismount(mount) or subprocess.run(["umount", mount], capture_output=True).returncode == 0:
                break
            time.sleep(0.3)
        if loop:
            run("losetup", "--detach", loop, check=False)
        if not os.path.ismount(mount):
            shutil.rmtree(place, ignore_errors=True)


class Certificate:
    """A self-signed certificate for a listener with TLS on a port of its own."""

    def __init__(self, stack):
        self.place = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-check-tls-"))
        os.chmod(self.place, 0o755)
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=localhost",
            "-keyout", f"{self.place}/key.pem", "-out", f"{self.place}/certificate.pem")
        os.chmod(f"{self.place}/key.pem", 0o644)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.port = unused.getsockname()[1]

    def settings(self):
        """Lines of rabbitmq.conf."""
        files = {"cacertfile": "certificate", "certfile": "certificate", "keyfile": "key"}
        lines = [f"ssl_options.{key} = {self.place}/{file}.pem\n" for key, file in files.items()]
        return f"listeners.ssl.planted = 127.0.0.1:{self.port}\n" + "".join(lines)


def cpu_times():
    """Returns idle and total ticks of the machine."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)


def cpu_of(pid):
    """Returns seconds of CPU time of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        words = stat.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
