"""A path with a delay between a client and a broker on 127.0.0.1: an interface of the kernel (TUN) whose packets wait here.

Clients connect to `PEER` on the broker's port. Packets have Ethernet's size, since nothing segments for them later. The path
can also lose its memory as a balancer does, or its other end.
"""

import fcntl
import heapq
import os
import select
import socket
import struct
import subprocess
import threading
import time

OWN, PEER, LOOPBACK = (socket.inet_aton(address) for address in ("10.213.77.2", "10.213.77.1", "127.0.0.1"))
HOST = socket.inet_ntoa(PEER)
TUNSETIFF, TUN_WITHOUT_HEADER = 0x400454CA, 0x1001


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def addressed(packet, source, destination):
    """Returns the packet with other addresses and their checksums."""
    header, rest = bytearray(packet[:20]), bytearray(packet[20:])
    header[10:12], header[12:16], header[16:20] = b"\0\0", source, destination
    header[10:12] = struct.pack(">H", checksum(bytes(header)))
    rest[16:18] = b"\0\0"
    pseudo = source + destination + struct.pack(">HH", 6, len(rest))
    rest[16:18] = struct.pack(">H", checksum(pseudo + bytes(rest)))
    return bytes(header + rest)


def reset_for(packet):
    """Returns a balancer's answer to a segment of a forgotten connection."""
    source, destination, (sequence, acknowledgement) = packet[20:22], packet[22:24], struct.unpack(">II", packet[24:32])
    tcp = destination + source + struct.pack(">IIBBHHH", acknowledgement, sequence, 0x50, 0x14, 0, 0, 0)
    header = bytes([0x45, 0]) + struct.pack(">HHHBBH", 40, 0, 0x4000, 64, 6, 0)
    return addressed(header + bytes(8) + tcp, packet[16:20], packet[12:16])


class Path:
    """Forwards until it is closed. `mode`: "on", "gone" (nothing arrives), "forgotten" (the client's segments are reset)."""

    def __init__(self, delay=0.005, name="rscope0"):
        self.delay, self.mode, self.name = delay, "on", name
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), TUN_WITHOUT_HEADER))
        for words in (f"addr add {socket.inet_ntoa(OWN)}/30 dev {name}", f"link set {name} up mtu 1500 txqueuelen 10000"):
            subprocess.run(["ip", *words.split()], check=True)
        # Packets for 127.0.0.1 come from here.
        for key, value in (("route_localnet", "1"), ("rp_filter", "0")):
            with open(f"/proc/sys/net/ipv4/conf/{name}/{key}", "w") as setting:
                setting.write(value)
        self.waiting, self.count, self.is_open = [], 0, True
        self.thread = threading.Thread(target=self.forward)
        self.thread.start()

    def take(self, packet):
        if packet[0] != 0x45 or packet[9] != 6 or self.mode == "gone":
            return
        source, destination = packet[12:16], packet[16:20]
        if self.mode == "forgotten" and source == OWN:
            out = reset_for(packet)
        elif source == OWN and destination == PEER:
            out = addressed(packet, PEER, LOOPBACK)
        elif source == LOOPBACK and destination == PEER:
            out = addressed(packet, PEER, OWN)
        else:
            return
        self.count += 1
        heapq.heappush(self.waiting, (time.monotonic() + self.delay, self.count, out))

    def forward(self):
        while self.is_open:
            wait = max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else 0.1
            if select.select([self.tun], [], [], min(wait, 0.1))[0]:
                for _ in range(64):
                    try:
                        self.take(os.read(self.tun, 65536))
                    except BlockingIOError:
                        break
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                os.write(self.tun, heapq.heappop(self.waiting)[2])

    def close(self):
        self.is_open = False
        self.thread.join()
        os.close(self.tun)
