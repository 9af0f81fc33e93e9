"""Plants faults on connections of throwaway brokers and lets healthy clients work, captures each, and compares what `packets`
finds first with what there was.

Usage, as root:
    RABBITSCOPE=PROGRAM python3 scripts/packets faults [ROUNDS]
    RABBITSCOPE=PROGRAM CLIENTS=DIRECTORY python3 scripts/packets clients [SECONDS]

`faults` prints what was planted and what was found first. `clients` takes whichever clients `clients/install.sh DIRECTORY` has
installed, and prints findings of each capture; a warning is a false one. Exit code 1 where something differs.
"""

import sys
import tempfile

import delay
import faults
import healthy
import machine
from plants import FAULTS, PATH_FAULTS

PLUGINS = "rabbitmq_mqtt,rabbitmq_stream,rabbitmq_amqp1_0,rabbitmq_stomp,rabbitmq_management"


def brokers(*configurations):
    nodes = []
    for lines, plugins in configurations:
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as config:
            config.write(lines)
            config.flush()
            nodes.append(machine.broker("--config", config.name, plugins=plugins))
    return nodes


def judge(name, expected, report):
    found = machine.titles(report)
    first = found[0] if found else "nothing"
    print(f"| {name} | {expected} | {first} | {', '.join(found[1:])} |", flush=True)
    return [] if first == expected else [f"{name}: {first}"]


def plant(rounds, ports):
    wrong = []
    path = delay.Path()
    path.host = delay.HOST
    looked_at = [port for name, port in ports.items() if name != "http"]
    try:
        for _ in range(rounds):
            for name, expected, action in FAULTS:
                if action in faults.WITH_OWN_NODES:
                    wrong += judge(name, expected, machine.captured_later(lambda told: action({**ports, "told": told})))
                else:
                    wrong += judge(name, expected, machine.captured(looked_at, lambda: action(ports)))
            for name, expected, action in PATH_FAULTS:
                wrong += judge(name, expected, machine.captured(looked_at, lambda: action(path, ports), path.name))
    finally:
        path.close()
    return wrong


def plant_all(rounds):
    nodes = brokers(("loopback_users = none\n", PLUGINS), ("vm_memory_high_watermark.absolute = 20MB\n", ""))
    try:
        ports = machine.ports_of(nodes[0])
        ports = {name.replace("/", "-"): port for name, port in ports.items()}
        ports["amqp10"] = ports["amqp"]
        ports["alarm"] = machine.ports_of(nodes[1])["amqp"]
        ports["closed"] = machine.closed_port()
        print("| planted | expected first | found first | others |\n| --- | --- | --- | --- |")
        return plant(rounds, ports)
    finally:
        for node in nodes:
            machine.stop(node)


def clients(seconds):
    nodes = brokers(("loopback_users = none\n", PLUGINS))
    try:
        return healthy.all_clients(nodes[0], seconds)
    finally:
        machine.stop(nodes[0])


if __name__ == "__main__":
    what, number = sys.argv[1], sys.argv[2:]
    wrong = plant_all(int(number[0]) if number else 2) if what == "faults" else clients(int(number[0]) if number else 10)
    print(f"{len(wrong)} wrong: {wrong}", file=sys.stderr)
    sys.exit(1 if wrong else 0)
