"""Loads of other programs' clients, observed on a throwaway broker of their own."""

import json
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent / "clients"
CLIENTS = pathlib.Path("target/workload-clients").resolve()
NAMES = ["amqp091-go", "celery", "perf-test", "pika"]
# Seconds for which a client runs before the observation, for which it is observed, and for which it goes on.
BEFORE, OBSERVED, AFTER = 6, 30, 4


class Missing(Exception):
    """A client that cannot be had."""


def python():
    """Returns Python with pika and Celery in an environment of its own."""
    place = CLIENTS / "python"
    if not (place / "bin" / "celery").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", "pika", "celery"], check=True)
    return place / "bin" / "python"


def go():
    """Returns the program of client.go."""
    place = CLIENTS / "go"
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "client.go", place / "main.go")
    if not (place / "go.mod").exists():
        subprocess.run(["go", "mod", "init", "client"], cwd=place, check=True, capture_output=True)
        subprocess.run(["go", "get", "github.com/rabbitmq/amqp091-go@latest"], cwd=place, check=True, capture_output=True)
    subprocess.run(["go", "build", "-o", "client", "."], cwd=place, check=True, capture_output=True)
    return place / "client"


def command(name, uri, seconds):
    """Returns the words that start a client. Fails if the client cannot be had."""
    if name == "perf-test":
        jars = subprocess.run(["scripts/perf-test.sh"], check=True, capture_output=True, text=True).stdout.strip()
        load = "-x 3 -y 2 -u perf -ad false -f persistent -s 1000 -r 40 -c 20 -q 40 --multi-ack-every 5 --consumer-latency 2000"
        return ["java", "-cp", f"{jars}/*", "com.rabbitmq.perf.PerfTest", "-h", uri, *load.split(), "-z", str(seconds)]
    if name == "amqp091-go":
        return [go(), uri, str(seconds)]
    return [python(), HERE / f"{name}_client.py", uri, str(seconds)]


def modelled(program, name, place):
    """Observes a client in the midst of its load, and returns the path of the scenario."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    started = subprocess.run([program, "broker", "start", "--json"], check=True, capture_output=True, text=True)
    brokers = json.loads(started.stdout)
    broker = brokers[0] if isinstance(brokers, list) else brokers
    try:
        observed = observe(program, broker, name, place)
    finally:
        subprocess.run([program, "broker", "stop", broker["name"]], capture_output=True)
    if observed.returncode != 0:
        raise SystemExit(f"{name}: exit code {observed.returncode}: {observed.stderr.strip()}")
    return place / "model.toml"


def observe(program, broker, name, place):
    """Runs a client on a broker, and observes it until it has almost ended."""
    try:
        words = command(name, broker["uri"], BEFORE + OBSERVED + AFTER)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing(f"not measured, the client cannot be had here: {error}") from error
    with open(place / "client.log", "w") as log:
        client = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)
        time.sleep(BEFORE)
        look = ["workload", "--node", broker["name"], "--duration", f"{OBSERVED}s", "-o", place / "model.toml"]
        observed = subprocess.run([program, *look], capture_output=True, text=True)
        client.wait(60)
    return observed
