"""Healthy loads: rabbitscope's own, and other clients that publish, consume and close correctly. No finding may be a warning."""

import os
import subprocess
import tempfile
import time

import delay
import machine
from amqp import PASSWORDS

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
LIBRARIES = os.environ.get("CLIENTS", "")
PYTHON = [os.path.join(LIBRARIES, "py/bin/python"), os.path.join(HERE, "python_clients.py")]
NODE = ["node", os.path.join(HERE, "client.js")]
# Name, protocol of the port, command.
CLIENTS = [
    ("pika", "amqp", [*PYTHON, "pika"]),
    ("aio-pika", "amqp", [*PYTHON, "aio-pika"]),
    ("kombu", "amqp", [*PYTHON, "kombu"]),
    ("amqplib", "amqp", [*NODE, "amqplib"]),
    ("amqp091-go", "amqp", [os.path.join(LIBRARIES, "go/client")]),
    ("Bunny", "amqp", ["ruby", os.path.join(HERE, "client.rb")]),
    ("php-amqplib", "amqp", ["php", os.path.join(HERE, "client.php")]),
    ("PerfTest", "amqp", ["sh", os.path.join(HERE, "perf-test.sh")]),
    ("librabbitmq", "amqp", ["sh", os.path.join(HERE, "amqp-tools.sh")]),
    ("rhea", "amqp", [*NODE, "rhea"]),
    ("Paho", "mqtt", [*PYTHON, "paho"]),
    ("MQTT.js", "mqtt", [*NODE, "mqttjs"]),
    ("stomp.py", "stomp", [*PYTHON, "stomp"]),
    ("rstream", "stream", [*PYTHON, "rstream"]),
]
# Clients with Nagle's algorithm on and small writes: they really wait for acknowledgements.
WAITING = ["amqplib", "Paho", "MQTT.js", "stomp.py"]
# Options of `load`.
OWN = [
    "-x 1 -y 1 -r 200",
    "-x 2 -y 2 -r 2000 -c 100 -q 200",
    "-x 1 -y 1 -c 200 -q 500 -s 1000",
    "-x 4 -y 4 -r 500 -c 50 -q 100 -s 4000",
    "-x 1 -y 1 -c 500 -q 500 -s 60000",
    "-x 1 -y 0 -r 1000 -c 100 -u healthy-kept",
    "-x 3 -y 3 -c 100 -q 300 -A 50",
]
# Seconds between messages, and bytes.
PACES = {"slow": ("0.02", "200"), "fast": ("0.001", "4000")}


def client(words, mode, pace, host, port, seconds):
    pause, size = PACES[pace]
    environment = {**os.environ, "HOST": host, "PORT": str(port), "USERNAME": "guest", "PASSWORD": PASSWORDS[port],
                   "QUEUE": "healthy-%d" % time.monotonic_ns(), "SECONDS": str(seconds), "MODE": mode, "PAUSE": pause,
                   "SIZE": size, "LIBRARIES": os.path.join(LIBRARIES, "node")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=seconds + 60)
    return "" if done.returncode == 0 else f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"


def own(words, uri, seconds):
    with tempfile.TemporaryDirectory() as place:
        command = [machine.PROGRAM, "load", *words.split(), "-z", str(seconds), "--out", os.path.join(place, "run")]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "RABBITSCOPE_URI": uri})
    # 4: the machine could not keep up with the rate.
    return "" if done.returncode in (0, 4) else f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def looked_at(action, ports, interfaces, name):
    """Returns the action's own error, and a report of each capture of it: live, and by tcpdump on each interface."""
    with tempfile.TemporaryDirectory() as place:
        files = [os.path.join(place, interface + ".pcap") for interface in interfaces]
        dumps = [machine.tcpdump(interface, ports, file) for interface, file in zip(interfaces, files)]
        look = machine.live(ports, name)
        time.sleep(1)
        error = action()
        time.sleep(0.5)
        reports = [("live", machine.finished(look))]
        for dump in dumps:
            dump.terminate()
            dump.wait()
        reports += [("tcpdump -i " + interface, machine.of_file(file, ports)) for interface, file in zip(interfaces, files)]
    return error, reports


def show(name, error, reports):
    wrong = [f"{name}: {error}"] if error else []
    for source, report in reports:
        warnings = machine.titles(report, ("critical", "warning"))
        said = "; ".join(f"{it['rule']}: {it['evidence']}" for it in report.get("findings", []) if it["severity"] != "note")
        totals = report.get("totals", {})
        print(f"| {name} | {source} | {totals.get('published')}/{totals.get('delivered')} | {said or 'nothing'} | "
              f"{', '.join(machine.titles(report, ('note',)))} |", flush=True)
        is_waiting = name.split(",")[0] in WAITING
        false = [rule for rule in warnings if not (is_waiting and rule == "delayed-acknowledgement")]
        wrong += [f"{name}, {source}: {', '.join(false)}"] if false else []
        wrong += [] if totals.get("segments") else [f"{name}, {source}: nothing was captured"]
    return wrong


def beside_burners(action):
    """Runs the action on a busy machine. The burners end before its captures are read."""
    burners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        return action()
    finally:
        for process in burners:
            process.kill()
            process.wait()


def is_there(words):
    return all(os.path.exists(word) for word in words if word.startswith("/")) and subprocess.run(
        ["sh", "-c", f"command -v {words[0]}"], capture_output=True).returncode == 0


def all_clients(node, seconds):
    wrong, ports, uri = [], machine.ports_of(node), node["uri"]
    print("| client | capture | published/delivered | warnings | notes |\n| --- | --- | ---: | --- | --- |")
    for words in OWN:
        action = lambda words=words: own(words, uri, seconds)
        wrong += show(f"rabbitscope {words}", *looked_at(action, [ports["amqp"]], ["lo", "any"], "any"))
    absent = [name for name, _, words in CLIENTS if not is_there(words)]
    there = [row for row in CLIENTS if row[0] not in absent]
    variants = [("confirms", "slow", False), ("plain", "fast", True)]
    for mode, pace, is_busy in variants:
        for name, protocol, words in there:
            works = lambda words=words, port=ports[protocol]: client(words, mode, pace, machine.HOST, port, seconds)
            action = (lambda works=works: beside_burners(works)) if is_busy else works
            found = looked_at(action, [ports[protocol]], ["lo", "any"], "any")
            wrong += show(f"{name}, {mode}, {pace}{', busy machine' if is_busy else ''}", *found)
    wrong += delayed(there, ports, seconds)
    print(f"not here: {', '.join(absent) or 'none'}")
    return wrong


def delayed(there, ports, seconds):
    wrong, path = [], delay.Path(0.01)
    try:
        for name, protocol, words in there:
            action = lambda words=words, port=ports[protocol]: client(words, "confirms", "slow", delay.HOST, port, seconds)
            found = looked_at(action, [ports[protocol]], [path.name], path.name)
            wrong += show(f"{name}, confirms, slow, 20 ms away", *found)
    finally:
        path.close()
    return wrong
