"""Messages to and from topics by Paho.

    python3 interoperation.py PORT read FILTER COUNT
    python3 interoperation.py PORT write TOPIC
    python3 interoperation.py PORT look FILTER

User and password are in the environment: BROKER_USER, BROKER_PASSWORD. Prints JSON; a reader prints `subscribed` before.
"""

import json
import os
import queue
import sys

import paho.mqtt.client as mqtt

SIZES = [0, 1, 11, 12, 127, 128, 16_384, 131_072, 131_073, 300_000]


def connected(protocol=mqtt.MQTTv311):
    client = mqtt.Client(
        mqtt.CallbackAPIVersion.VERSION2, client_id=f"paho-{os.getpid()}", protocol=protocol
    )
    client.username_pw_set(os.environ["BROKER_USER"], os.environ["BROKER_PASSWORD"])
    client.connect("127.0.0.1", int(sys.argv[1]))
    client.loop_start()
    return client


def received(client, pattern, count):
    came, subscribed = queue.Queue(), queue.Queue()
    client.on_message = lambda _client, _data, message: came.put(message)
    client.on_subscribe = lambda *_: subscribed.put(True)
    client.subscribe(pattern, qos=1)
    subscribed.get(timeout=20)
    print("subscribed", flush=True)
    messages = [came.get(timeout=60) for _ in range(count)]
    client.disconnect()
    return messages


def read(pattern, count):
    messages = received(connected(), pattern, count)
    # The last 28 bits of a stamp are the number of its message.
    bodies = [message.payload for message in messages]
    numbers = [int.from_bytes(body[8:12], "big") & ((1 << 28) - 1) for body in bodies]
    return {
        "sizes": sorted({len(body) for body in bodies}),
        "topics": sorted({message.topic for message in messages}),
        "qos": sorted({message.qos for message in messages}),
        "numbers": numbers == list(range(numbers[0], numbers[0] + count)),
    }


def look(pattern):
    """Returns all parts of the first message, by MQTT 5."""
    message = received(connected(mqtt.MQTTv5), pattern, 1)[0]
    properties = message.properties
    users = dict(properties.UserProperty)
    stamp = users.pop("rabbitscope-stamp", "")
    return {
        "expiration": properties.MessageExpiryInterval,
        "content-type": properties.ContentType,
        "reply-to": properties.ResponseTopic,
        "correlation-id": properties.CorrelationData.decode(),
        "headers": users,
        "stamp": len(bytes.fromhex(stamp)),
        "body": json.loads(message.payload),
    }


def write(topic):
    client = connected()
    for qos in (0, 1):
        for size in SIZES:
            client.publish(topic, bytes(size), qos=qos).wait_for_publish(20)
    client.disconnect()
    client.loop_stop()
    return {"messages": 2 * len(SIZES), "bytes": 2 * sum(SIZES)}


words = sys.argv[2:]
WORK = {
    "read": lambda: read(words[1], int(words[2])),
    "write": lambda: write(words[1]),
    "look": lambda: look(words[1]),
}
print(json.dumps(WORK[words[0]]()))
