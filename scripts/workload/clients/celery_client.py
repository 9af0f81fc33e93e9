"""A load of Celery: `celery_client.py URI SECONDS`.

A program that calls a task 30 times a second, and a worker with two processes that need 20 ms for each.
"""

import os
import random
import subprocess
import sys
import time

from celery import Celery

app = Celery("tasks", broker=os.environ.get("CELERY_BROKER"))
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)


@app.task(name="tasks.work")
def work(text):
    time.sleep(0.02)


def call_tasks(seconds):
    due = time.monotonic()
    end = due + seconds
    while due < end:
        time.sleep(max(0, due - time.monotonic()))
        work.delay("0" * 200)
        due += random.expovariate(30)


def main(uri, seconds):
    app.conf.broker_url = uri
    words = [sys.executable, "-m", "celery", "-A", "celery_client", "worker", "--concurrency", "2", "--loglevel", "ERROR"]
    environment = {**os.environ, "CELERY_BROKER": uri, "C_FORCE_ROOT": "1"}
    worker = subprocess.Popen(words, cwd=os.path.dirname(os.path.abspath(__file__)), env=environment)
    try:
        time.sleep(3)
        call_tasks(seconds)
        time.sleep(1)
    finally:
        worker.terminate()
        worker.wait(20)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
