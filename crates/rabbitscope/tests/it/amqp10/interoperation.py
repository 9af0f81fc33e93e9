"""Messages to and from a queue by Qpid Proton.

    python3 interoperation.py PORT read QUEUE COUNT
    python3 interoperation.py PORT write QUEUE
    python3 interoperation.py PORT look QUEUE
    python3 interoperation.py PORT mark STREAM

User and password are in the environment: BROKER_USER, BROKER_PASSWORD. Prints JSON.
"""

import json
import os
import sys
from urllib.parse import quote

from proton import Message
from proton.utils import BlockingConnection

SIZES = [0, 1, 11, 12, 255, 256, 4096, 70_000, 131_072, 300_000]


def connect():
    return BlockingConnection(
        f"amqp://127.0.0.1:{sys.argv[1]}",
        timeout=30,
        user=os.environ["BROKER_USER"],
        password=os.environ["BROKER_PASSWORD"],
        allowed_mechs="PLAIN",
    )


def address(connection, queue):
    version = connection.conn.remote_properties["version"]
    if int(version.split(".")[0]) < 4:
        # The plugin cuts each character to a byte.
        return "/amq/queue/" + queue.replace("/", "%2F").encode().decode("latin-1")
    return "/queues/" + quote(queue, safe="")


def read(queue, count):
    connection = connect()
    receiver = connection.create_receiver(address(connection, queue), credit=100)
    bodies = []
    while len(bodies) < count:
        message = receiver.receive(timeout=30)
        assert message.durable
        bodies.append(bytes(message.body))
        receiver.accept()
    connection.close()
    # The last 28 bits of a stamp are the number of its message.
    numbers = [int.from_bytes(body[8:12], "big") & ((1 << 28) - 1) for body in bodies]
    return {
        "sizes": sorted({len(body) for body in bodies}),
        "numbers": numbers == list(range(numbers[0], numbers[0] + count)),
        "rest": all(not any(body[12:]) for body in bodies),
    }


def write(queue):
    connection = connect()
    sender = connection.create_sender(address(connection, queue))
    for size in SIZES:
        sender.send(Message(body=bytes(size), durable=True))
    connection.close()
    return {"messages": len(SIZES), "bytes": sum(SIZES)}


def look(queue):
    """Returns all parts of the first message."""
    connection = connect()
    receiver = connection.create_receiver(address(connection, queue), credit=1)
    message = receiver.receive(timeout=30)
    receiver.accept()
    connection.close()
    headers = dict(message.properties or {})
    stamp = headers.pop("rabbitscope-stamp", b"")
    annotations = {str(name): value for name, value in (message.annotations or {}).items()}
    return {
        "durable": message.durable,
        "priority": message.priority,
        "ttl": message.ttl,
        "message-id": message.id,
        "user-id": bytes(message.user_id or b"").decode(),
        "subject": message.subject,
        "reply-to": message.reply_to,
        "correlation-id": message.correlation_id,
        "content-type": str(message.content_type),
        "content-encoding": str(message.content_encoding),
        "creation-time": message.creation_time,
        "group-id": message.group_id,
        "headers": headers,
        "stamp": len(stamp),
        "annotation": annotations.get("x-stream-filter-value"),
        "body": json.loads(bytes(message.body)),
    }


def mark(stream):
    """Writes 300 messages that differ in their properties."""
    connection = connect()
    sender = connection.create_sender(address(connection, stream))
    for number in range(300):
        sender.send(
            Message(
                body=bytes(20),
                subject=f"order.{number % 3}",
                priority=number % 10,
                content_type="text/plain" if number % 2 else "application/json",
                properties={"region": ["eu", "us"][number % 2], "number": number},
            )
        )
    connection.close()
    return {"messages": 300}


words = sys.argv[2:]
WORK = {
    "read": lambda: read(words[1], int(words[2])),
    "write": lambda: write(words[1]),
    "look": lambda: look(words[1]),
    "mark": lambda: mark(words[1]),
}
print(json.dumps(WORK[words[0]]()))
