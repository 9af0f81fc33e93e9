"""The planted faults, each with the finding that must come first."""

import struct

from amqp import Client, frame, method, publish
import faults
import protocols

# Name, the rule that must come first, and the action.
FAULTS = [
    ("404: a queue that does not exist", "channel-closed", faults.closing(lambda client: client.declare("never-there", 1))),
    ("403: a reserved name", "channel-closed", faults.closing(lambda client: client.declare("amq.mine"))),
    ("405: another connection's queue", "channel-closed", faults.locked),
    ("406: other arguments", "channel-closed", faults.closing(faults.redeclare)),
    ("406: an unknown delivery tag", "channel-closed", faults.closing(faults.unknown_tag)),
    ("404: an exchange that does not exist", "channel-closed",
     faults.closing(lambda client: (client.send(b"".join(publish("k", b"x", exchange="nowhere"))), client.expect((20, 40))))),
    ("540: not implemented", "connection-closed", faults.after(frame(1, 1, struct.pack(">HH", 60, 10) + struct.pack(">IHB", 5, 1, 0)))),
    ("403: a wrong password", "connection-closed", lambda ports: Client(ports["amqp"], ("guest", "wrong")).socket.close()),
    ("a wrong password, an old client", "closed-without",
     lambda ports: Client(ports["amqp"], ("guest", "wrong"), capabilities=False).socket.close()),
    ("530: a virtual host that does not exist", "connection-closed", lambda ports: Client(ports["amqp"], vhost="nowhere").socket.close()),
    ("504: a channel that is not open", "connection-closed", faults.after(b"".join(publish("k", b"x", channel=9)))),
    ("504: a channel opened twice", "connection-closed", faults.after(method(1, (20, 10), b"\0"))),
    ("501: a frame without its end", "connection-closed", faults.wrong_frame),
    ("505: a header without a method", "connection-closed", faults.after(frame(2, 1, struct.pack(">HHQH", 60, 0, 1, 0)))),
    ("312: no route", "message-returned", faults.closing(faults.no_route)),
    ("nack: a full queue", "publish-refused", faults.closing(faults.full_queue)),
    ("a queue deleted under its consumer", "consumer-cancelled", faults.cancelled),
    ("deliveries rejected", "delivery-refused", faults.closing(faults.rejected)),
    ("a reset by the client", "connection-reset", faults.reset),
    ("a reset after silence", "idle-reset", faults.idle_reset),
    ("a closed port", "connection-refused", faults.refused),
    ("a client without heartbeats", "missed-heartbeats", faults.silent),
    ("a client that is gone", "closed-without", faults.gone),
    ("TLS to a plain port", "wrong-protocol", lambda ports: faults.raw(ports["amqp"], protocols.TLS_HELLO)),
    ("AMQP 1.0 without the plugin", "wrong-protocol", lambda ports: faults.raw(ports["alarm"], b"AMQP\0\1\0\0")),
    ("HTTP to the port of AMQP", "wrong-protocol", lambda ports: faults.raw(ports["amqp"], b"GET / HTTP/1.1\r\n\r\n")),
    ("a connection for each message", "connection-churn", faults.connection_churn),
    ("a channel for each message", "channel-churn", faults.channel_churn),
    ("an alarm", "connection-blocked", faults.blocked),
    ("a consumer that does not read", "zero-window", faults.slow_reader),
    ("frame by frame", "frame-by-frame", faults.closing(faults.frame_by_frame)),
    ("Nagle's algorithm", "delayed-acknowledgement", faults.nagle),
    ("an acknowledgement each", "ack-per-message", faults.closing(faults.one_ack_each)),
    ("polling", "polling", faults.closing(faults.polling)),
    ("a confirm each", "application-limited", faults.closing(faults.one_unconfirmed)),
    ("MQTT: a wrong password", "login-refused", protocols.mqtt(protocols.mqtt_connect(b"guest", b"wrong"))),
    ("stream: a wrong password", "login-refused", protocols.stream(b"wrong", b"")),
    ("stream: a stream that does not exist", "stream-refused",
     protocols.stream(None, protocols.stream_command(7, 5, b"\1" + protocols.stream_text(b"nowhere") + struct.pack(">HH", 1, 10)))),
    ("320: an operator closes a connection", "connection-closed", faults.forced_close),
    ("a node that stands still during a login", "slow-login", faults.slow_login),
    ("a node that is killed", "connection-reset", faults.node_killed),
    ("a flood of a quorum queue", "zero-window", faults.quorum_flood),
    ("MQTT: two clients with one identifier", "mqtt-loop", protocols.taken_over),
    ("MQTT: a keep-alive that passes", "closed-without", protocols.keep_alive_missed),
    ("MQTT: a client that leaves without a word", "closed-without", protocols.left_without_disconnect),
    ("AMQP 1.0: a queue that does not exist", "amqp10-error", protocols.no_such_node),
]

# The same on a separate path, which is the first argument.
PATH_FAULTS = [
    ("the other end is gone", "half-open", protocols.other_end_gone),
    ("a balancer forgets a silent connection", "idle-reset", protocols.balancer_forgets),
    ("nobody answers", "connection-refused", protocols.no_answer),
]
