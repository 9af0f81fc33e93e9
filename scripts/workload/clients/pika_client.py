"""A load of pika: `pika_client.py URI SECONDS`.

A timer that waits for each confirm, an independent publisher without confirms, and three consumers that need 10 ms a
message. They end two seconds after the last message.
"""

import random
import sys
import threading
import time

import pika

URI, SECONDS = sys.argv[1], float(sys.argv[2])


def until_the_end(pause):
    """Yields at times that do not depend on the caller's own time."""
    due = time.monotonic()
    end = due + SECONDS
    while due < end:
        time.sleep(max(0, due - time.monotonic()))
        yield
        due += pause()


def new_channel():
    return pika.BlockingConnection(pika.URLParameters(URI)).channel()


def publish(queue, confirms, sizes, pause):
    channel = new_channel()
    if confirms:
        channel.confirm_delivery()
    for _ in until_the_end(pause):
        channel.basic_publish("", queue, b"0" * random.choice(sizes))
    channel.connection.close()


def consume(queue):
    channel = new_channel()
    channel.basic_qos(prefetch_count=20)
    for method, _, _ in channel.consume(queue, inactivity_timeout=2):
        if method is None:
            return
        time.sleep(0.01)
        channel.basic_ack(method.delivery_tag)


def main():
    channel = new_channel()
    for queue in ("orders", "events"):
        channel.queue_declare(queue, durable=True)
    channel.connection.close()
    timer = (publish, "orders", True, [512, 512, 512, 2048], lambda: 1 / 60)
    independent = (publish, "events", False, [300], lambda: random.expovariate(80))
    consumers = [(consume, "orders"), (consume, "events"), (consume, "events")]
    threads = [threading.Thread(target=call, args=rest) for call, *rest in (timer, independent, *consumers)]
    for thread in threads:
        thread.start()


main()
