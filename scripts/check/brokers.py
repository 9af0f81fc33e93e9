"""A throwaway broker and the load on it."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import clients
import machine
from machine import PROGRAM, run

LOADS = pathlib.Path(__file__).parent / "loads"


@dataclasses.dataclass(frozen=True)
class Spec:
    """Options of a broker. `place`: "" (TMPDIR), "memory", or "loop" (a disk of its own).

    `has_network`: in a network of its own. `is_far`: clients come by a path of 20 ms. `has_tls`: loads come by TLS.
    """

    erl_args: str = ""
    config: str = ""
    nodes: int = 1
    place: str = ""
    has_network: bool = False
    is_far: bool = False
    plugins: tuple = ()
    has_tls: bool = False


def release():
    """Returns the release of RabbitMQ that brokers here have, as a list of numbers."""
    root = pathlib.Path(os.environ.get("RABBITSCOPE_BROKER_ROOT") or "/")
    places = root.glob("usr/lib/rabbitmq/lib/rabbitmq_server-*")
    return numbers(max((place.name for place in places), key=numbers, default=""))


def numbers(text):
    """Returns the numbers in a name of a release, such as 4 and 0 in 4.0."""
    return [int(number) for number in re.findall(r"\d+", text)]


class Site:
    """A broker. `nodes` are the descriptions that `broker start --json` prints."""

    def __init__(self, stack, spec):
        self.spec, self.network, self.path = spec, None, None
        self.environment = dict(os.environ)
        if spec.has_network:
            self.network = stack.enter_context(machine.network())
        if spec.place == "loop":
            self.environment["TMPDIR"] = str(stack.enter_context(machine.loop_disk()))
        elif spec.place == "memory":
            place = tempfile.mkdtemp(prefix="bench-check-", dir="/dev/shm")
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            self.environment["TMPDIR"] = place
        if spec.is_far:
            self.path = clients.FarPath()
            stack.callback(self.path.close)
        self.tls = machine.Certificate(stack) if spec.has_tls else None
        self.nodes = self.start(stack)

    def start(self, stack):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as config:
            config.write(self.spec.config + ("loopback_users = none\n" if self.spec.is_far else ""))
            config.write(self.tls.settings() if self.tls else "")
            config.flush()
            words = ["broker", "start", "--json", "--nodes", self.spec.nodes, "--config", config.name]
            words += ["--erl-args", self.spec.erl_args] if self.spec.erl_args else []
            words += ["--plugins", ",".join(self.spec.plugins)] if self.spec.plugins else []
            started = json.loads(run(*self.words(PROGRAM, *words), env=self.environment, timeout=120))
        nodes = started if isinstance(started, list) else [started]
        stack.callback(run, *self.words(PROGRAM, "broker", "stop", nodes[0]["name"]), check=False, env=self.environment)
        return nodes

    def words(self, *words):
        """A command in the broker's network."""
        return (["nsenter", f"--net=/run/netns/{self.network}"] if self.network else []) + [str(word) for word in words]

    def pid(self, index=0):
        return self.nodes[index]["pid"]

    def port(self, index=0):
        return self.ports(index)["amqp"]

    def ports(self, index=0):
        """Ports by protocol."""
        return {listener["protocol"]: listener["port"] for listener in self.nodes[index]["listeners"]}

    def uri(self, index=0):
        """The address for a load."""
        uri = self.nodes[index]["uri"]
        if self.tls:
            return uri.replace("amqp://", "amqps://").replace(f":{self.port(index)}", f":{self.tls.port}")
        return uri.replace("127.0.0.1", clients.delay.HOST) if self.path else uri

    def other_ports(self, index):
        """The query of an address with the ports of other protocols."""
        ports = self.ports(index)
        keys = [f"{protocol}_port={ports[protocol]}" for protocol in ("mqtt", "stream") if protocol in ports]
        return "?" + "&".join(keys) if keys else ""

    def distribution_ports(self):
        words = pathlib.Path(f"/proc/{self.pid()}/cmdline").read_bytes().split(b"\0")
        at = words.index(b"-rabbitscope_ports")
        return [int(word) for word in words[at + 2:at + 1 + 2 * len(self.nodes):2]]

    def password(self, index=0):
        return re.match(r"amqp://[^:]*:([^@]*)@", self.nodes[index]["uri"])[1]

    def evaluate(self, expression, index=0):
        """Evaluates Erlang on a node, by its own tool."""
        directory = pathlib.Path(self.nodes[0]["directory"])
        home = next(path.parent for path in directory.rglob(".erlang.cookie"))
        facts = json.loads(next(directory.rglob("node.json")).read_text())
        environment = {**self.environment, "HOME": str(home), "ERL_EPMD_PORT": str(facts["ports"]["epmd"])}
        tool = "/usr/lib/rabbitmq/bin/rabbitmqctl"
        return run(*self.words(tool, "-n", self.nodes[index]["node-name"], "eval", expression), env=environment)

    def node_name(self, index):
        """The name by which a command finds a node."""
        return self.nodes[index]["node-name"] if len(self.nodes) > 1 else self.nodes[0]["name"]

    def check(self, index, seconds, *more):
        """Runs the check with more options, and returns its exit code, output and messages."""
        node = self.node_name(index)
        words = self.words(PROGRAM, "check", "--node", node, "--json", "--duration", f"{seconds}s", *more)
        try:
            done = subprocess.run(words, capture_output=True, text=True, env=self.environment, timeout=seconds + 30)
        except subprocess.TimeoutExpired:
            return 124, "", "no answer in time"
        return done.returncode, done.stdout, done.stderr


class Load:
    """A load that runs until the end of the block."""

    def __init__(self, site, scenario, sets, near, place):
        self.site, self.sets = site, sets
        self.out = pathlib.Path(place) / "load"
        shutil.rmtree(self.out, ignore_errors=True)
        self.log = pathlib.Path(place) / "load.log"
        file = LOADS / f"{scenario}.toml"
        words = ["run", file, "--out", self.out, "--plain", "--remove-leftovers", "--set", "run.duration=10m",
                 "--set", "run.self-check=false"]
        for key, value in sets.items():
            words += ["--set", f"!{key}" if value is None else f"{key}={value}"]
        self.command = site.words(PROGRAM, *words)
        self.environment = {**site.environment, "RABBITSCOPE_URI": site.uri(near) + site.other_ports(near)}

    @contextlib.contextmanager
    def running(self):
        with open(self.log, "w") as log:
            with machine.process(*self.command, stdout=log, stderr=log, env=self.environment) as self.process:
                yield self

    def rows(self):
        series = self.out / "series.jsonl"
        if not series.exists():
            return []
        lines = series.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def wait(self, seconds, limit=40):
        """Waits until the load has run so long."""
        deadline = time.monotonic() + limit
        while len(self.rows()) < seconds:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the load did not run: {self.log.read_text()[-600:]}")
            time.sleep(0.2)

    def rate(self, counter, seconds):
        """Waits for so many further seconds, and returns events a second and the other figures of these seconds."""
        from_row = len(self.rows()) + 1
        self.wait(from_row + seconds)
        rows = self.rows()[from_row:from_row + seconds]
        nanos = sum(row["interval-nanos"] for row in rows)
        per_second = lambda name: sum(row.get(name) or 0 for row in rows) / nanos * 1e9
        mean = lambda name: sum(row.get(name) or 0 for row in rows) / len(rows)
        latency = [(row.get("confirm-latency") or {}).get("p50") for row in rows]
        latency = [one for one in latency if one]
        return per_second(counter), {
            "published": per_second("published"), "confirmed": per_second("confirmed"), "consumed": per_second("consumed"),
            "broker-cores": mean("broker-cpu-cores"), "client-cores": mean("client-cpu-cores"),
            "ready": rows[-1].get("queue-messages"), "confirm-p50-ms": latency[-1] / 1e6 if latency else None,
            "blocked": per_second("blocked-nanos") / 1e9,
        }
