"""Brokers, captures and reports: common parts of planted faults and healthy clients."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time

from amqp import PASSWORDS

PROGRAM = os.environ["RABBITSCOPE"]
HOST = "127.0.0.1"
# Seconds until a capture has begun on a busy machine.
START = 1.5


def broker(*options, plugins=""):
    words = [PROGRAM, "broker", "start", "--json", *options] + (["--plugins", plugins] if plugins else [])
    said = subprocess.run(words, capture_output=True, text=True)
    if said.returncode != 0:
        raise SystemExit(said.stderr)
    started = json.loads(said.stdout)
    node = started[0] if isinstance(started, list) else started
    password = node["uri"].split(":")[2].split("@")[0]
    PASSWORDS.update({listener["port"]: password for listener in node["listeners"]})
    return node


def stop(node):
    subprocess.run([PROGRAM, "broker", "stop", node["name"]], capture_output=True)


def ports_of(node):
    return {listener["protocol"]: listener["port"] for listener in node["listeners"]}


def closed_port():
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        return unused.getsockname()[1]


def live(ports, interface="any"):
    """A live capture by `packets`; `finished` ends it and returns its report."""
    place = tempfile.mkdtemp()
    numbers = [word for port in ports for word in ("--port", str(port))]
    command = [PROGRAM, "packets", *numbers, "--duration", "300s", "--interface", interface, "-o", place + "/p.json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process, place


def finished(look):
    process, place = look
    process.send_signal(signal.SIGINT)
    process.wait()
    with open(place + "/p.json") as report:
        found = json.load(report)
    subprocess.run(["rm", "-r", place], check=True)
    return found


def captured(ports, action, interface="any"):
    """Returns the report on a simultaneous action."""
    look = live(ports, interface)
    try:
        time.sleep(START)
        action()
        time.sleep(0.3)
    finally:
        report = finished(look)
    return report


def tcpdump(interface, ports, file):
    words = " or ".join(f"tcp port {port}" for port in ports)
    command = ["tcpdump", "-i", interface, "-B", "65536", "-s", "0", "-Z", "root", "-w", file, words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def of_file(file, ports):
    numbers = ",".join(str(port) for port in ports)
    said = subprocess.run([PROGRAM, "packets", "--pcap", file, "--port", numbers, "--json"], capture_output=True, text=True)
    return json.loads(said.stdout)


def titles(report, severities=("critical", "warning", "note")):
    return [finding["rule"] for finding in report.get("findings", []) if finding["severity"] in severities]


def captured_later(action):
    """Like `captured`, for an action that learns its port only after its start, and then reports it."""
    looks = []
    def told(port):
        looks.append(live([port]))
        time.sleep(START)
    action(told)
    time.sleep(0.3)
    return finished(looks[0])
