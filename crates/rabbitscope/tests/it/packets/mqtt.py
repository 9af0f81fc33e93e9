"""MQTT 3.1.1 by Paho: subscribes, publishes with both qualities of service, waits for everything.

    python3 mqtt.py PORT          user and password in the environment: BROKER_USER, BROKER_PASSWORD

Prints, as JSON, the packets that the client wrote and read, by sender and type, and its messages. The client's log has a
line for each packet.
"""

import json
import os
import sys
import threading
from collections import Counter

import paho.mqtt.client as mqtt

BODY = b"body of a message"
MESSAGES = 40

frames = Counter()
confirmed = 0


def count_packet(client, user_data, level, text):
    """`Sending PUBLISH (d0, q1, …)`, `Received PUBACK (Mid: 1)`"""
    sender = {"Sending": "client", "Received": "broker"}.get(text.split(" ")[0])
    if sender:
        kind = text.split(" ")[1]
        frames[f"{sender} {kind}"] += 1


def new_client():
    # Version 2 of the library wants to know which form of callbacks is meant; none of those used here differs.
    versions = getattr(mqtt, "CallbackAPIVersion", None)
    first = [versions.VERSION2] if versions else []
    return mqtt.Client(*first, client_id="packets", protocol=mqtt.MQTTv311)


def main():
    client = new_client()
    client.username_pw_set(os.environ["BROKER_USER"], os.environ["BROKER_PASSWORD"])
    came, subscribed = threading.Semaphore(0), threading.Event()
    client.on_log = count_packet
    client.on_message = lambda *_: came.release()
    client.on_subscribe = lambda *_: subscribed.set()
    client.connect("127.0.0.1", int(sys.argv[1]))
    client.loop_start()
    client.subscribe("packets/#", qos=1)
    assert subscribed.wait(20)
    for number in range(MESSAGES):
        message = client.publish("packets/topic", BODY, qos=number % 2)
        message.wait_for_publish()
    for _ in range(MESSAGES):
        assert came.acquire(timeout=20)
    # Answered after the last acknowledgement was read.
    unsubscribed = threading.Event()
    client.on_unsubscribe = lambda *_: unsubscribed.set()
    client.unsubscribe("packets/#")
    assert unsubscribed.wait(20)
    client.disconnect()
    client.loop_stop()
    known = {"published": MESSAGES, "confirmed": MESSAGES // 2, "delivered": MESSAGES}
    print(json.dumps({"frames": frames, **known}))


main()
