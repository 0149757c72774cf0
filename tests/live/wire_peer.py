#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wire_peer.py - another implementation of RoCE v2 at the other end of the wire, and a hostile one.

It has addresses of loopback, makes packets byte by byte, with an ICRC that is computed here, and talks to
programs on a fabric whose host is the second of the network in $net.

	wire_peer.py attack TCP-PORT STATUS...    against ibv_rc_pingpong; STATUS is the command for the counters
	wire_peer.py rping RDMA-PORT CAPTURE      as rping -c, with what Linux's rxe sent in a capture
"""
import json
import os
import select
import socket
import struct
import subprocess
import sys
import zlib

WEFT, PEER, STRANGER = (f"{os.environ['net']}.{n}" for n in (2, 9, 8))
PORT = 4791
RC_SEND_ONLY, RC_READ_REQ, RC_READ_RESP_ONLY = 0x04, 0x0C, 0x10
RC_WRITE_ONLY, RC_ACK, CNP, UD_SEND_ONLY = 0x0A, 0x11, 0x81, 0x64
REQ, REJ, REP, RTU, DREQ, DREP = 0x10, 0x12, 0x13, 0x14, 0x15, 0x16
GMP_KEY = 0x80010000


def icrc(src, dst, sport, udp):
    """Of the bytes behind the UDP header, without the ICRC; identification 0, Don't Fragment."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xFF, 20 + 8 + len(udp) + 4, 0, 0x4000, 0xFF, 17, 0xFFFF,
                     socket.inet_aton(src), socket.inet_aton(dst))
    head = struct.pack(">HHHH", sport, PORT, 8 + len(udp) + 4, 0xFFFF)
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + head + udp[:4] + b"\xff" + udp[5:]))


def bth(opcode, qpn, psn, ack=False, pad=0, pkey=0xFFFF):
    return struct.pack(">BBHII", opcode, pad << 4, pkey, qpn, (1 << 31 if ack else 0) | (psn & 0xFFFFFF))


class End:
    """An address on the wire: a socket at RoCE's port, which receives, and one that sends."""

    def __init__(self, address):
        self.address = address
        self.rx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.rx.bind((address, PORT))
        self.rx.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        self.tx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.tx.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        self.tx.setsockopt(socket.SOL_SOCKET, 11, 1)  # SO_NO_CHECK
        self.tx.bind((address, 0))

    def send(self, udp, spoil=0, tos=0):
        sport = self.tx.getsockname()[1]
        code = bytearray(icrc(self.address, WEFT, sport, udp))
        code[0] ^= spoil
        self.tx.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        self.tx.sendto(udp + bytes(code), (WEFT, PORT))

    def receive(self, timeout=250):
        """The next packet, whose ICRC must be right: opcode, QPN, PSN and what follows the BTH."""
        if not select.select([self.rx], [], [], timeout)[0]:
            raise SystemExit("nothing comes from the wire")
        data, (address, sport) = self.rx.recvfrom(8192)
        assert address == WEFT and sport >= 0xC000, (address, sport)
        assert data[-4:] == icrc(WEFT, self.address, sport, data[:-4]), "wrong ICRC: " + data.hex()
        opcode, _, pkey, qpn, psn = struct.unpack(">BBHII", data[:12])
        assert pkey == 0xFFFF
        return opcode, qpn & 0xFFFFFF, psn & 0xFFFFFF, data[12:-4]

    def is_silent(self):
        return not select.select([self.rx], [], [], 0)[0]


def aeth(rest):
    return rest[0], int.from_bytes(rest[1:4], "big")


def counters(command):
    """What the host on the wire has counted."""
    status = json.loads(subprocess.check_output(command))
    return status["hosts"][0]["wire"]


def attack(port, command):
    """A queue pair hears nobody but its peer, whatever comes; and who speaks for it does not, either."""
    me, stranger = End(PEER), End(STRANGER)
    tcp = socket.create_connection(("127.0.0.1", port))
    tcp.sendall(f"0000:001234:000100:{'0' * 20}ffff{socket.inet_aton(PEER).hex()}\0".encode())
    line = tcp.recv(52, socket.MSG_WAITALL).rstrip(b"\0").decode()
    qpn, psn = (int(x, 16) for x in line.split(":")[1:3])
    tcp.sendall(b"done\0")
    before = counters(command)

    def send_only(number, payload, to=qpn):
        return bth(RC_SEND_ONLY, to, number, ack=True) + payload

    good = send_only(0x100, b"\x11" * 64)
    evil = send_only(0x100, b"\x66" * 64)
    mad = bytearray(256)
    mad[0:4] = bytes((1, 7, 2, 3))
    cm = bth(UD_SEND_ONLY, 1, 0) + struct.pack(">II", GMP_KEY, 1)
    refused = malformed = wrong = 0
    # Not the address that it is connected to; not its number; no such program.
    stranger.send(evil)
    me.send(send_only(0x100, b"\x66" * 64, qpn + 7))  # the adapter's, and its program drops it
    me.send(send_only(0x100, b"\x66" * 64, 0x3FF << 14 | 2))
    refused += 2
    # Other services, a key that is nobody's: the program's adapter drops them.
    me.send(bth(UD_SEND_ONLY, qpn, 0) + struct.pack(">II", 0x11111111, 5) + b"\x66" * 64)
    me.send(bth(0x24, qpn, 0x100) + b"\x66" * 64)
    me.send(bth(RC_SEND_ONLY, qpn, 0x100, pkey=0x1234) + b"\x66" * 64)
    # Damaged.
    me.send(evil, spoil=1)
    wrong += 1
    for bad in (b"", b"\x04", evil[:11], bth(0x1F, qpn, 0x100) + b"\x66" * 64,
                bth(RC_WRITE_ONLY, qpn, 0x100) + b"\0" * 15,
                bth(RC_SEND_ONLY, qpn, 0x100, pad=3) + b"\0"):
        me.send(bad)
        malformed += 1
    # Multicast that nobody has joined, and at the address of one host at that.
    me.send(bth(UD_SEND_ONLY, 0xFFFFFF, 0) + struct.pack(">II", 0x11111111, 5) + b"\x66" * 64)
    refused += 1
    # Messages to queue pair 1: with a wrong key, cut short, of another class, garbage, and for the program.
    me.send(bth(UD_SEND_ONLY, 1, 0) + struct.pack(">II", 0x11111111, 1) + bytes(mad))
    me.send(cm + bytes(mad[:100]))
    for attribute in range(0x10, 0x1C):
        struct.pack_into(">H", mad, 16, attribute)
        struct.pack_into(">II", mad, 24, 0x66666666, qpn >> 14 << 22 | 1)
        me.send(cm + bytes(mad))
    mad[1] = 3
    me.send(cm + bytes(mad))
    for _ in range(200):
        me.send(cm + mad[:24] + os.urandom(232))
        mad[1] = 7
    # What was right all along. CM may have answered; the queue pair has not.
    me.send(good, tos=3)
    while True:
        opcode, to, number, rest = me.receive()
        if opcode in (RC_ACK, CNP) or to != 1:
            break
        assert opcode == UD_SEND_ONLY
    # It came with a congestion mark: a CNP, and the acknowledgement of this very packet.
    seen = []
    while RC_ACK not in seen:
        seen.append(opcode)
        if opcode == RC_ACK:
            assert (to, number, aeth(rest)[1]) == (0x1234, 0x100, 1), (to, number, rest)
            assert aeth(rest)[0] & 0xE0 == 0
            break
        assert opcode == CNP and to == 0x1234, (hex(opcode), hex(to))
        opcode, to, number, rest = me.receive()
    assert CNP in seen, seen
    # The program's own pings carry on the conversation: it has received exactly one.
    opcode, to, number, rest = me.receive()
    assert (opcode, to, number) == (RC_SEND_ONLY, 0x1234, psn), (hex(opcode), hex(to), number)
    after = counters(command)
    got = {k: after[k] - before[k] for k in ("rx_refused", "rx_malformed", "rx_icrc_errors")}
    assert got["rx_icrc_errors"] == wrong and got["rx_malformed"] == malformed, got
    assert got["rx_refused"] >= refused, got
    assert stranger.is_silent()
    me.send(bth(RC_ACK, qpn, psn) + struct.pack(">I", 0x1F000001))
    tcp.recv(16)
    print("nothing got through")


def packets_of(path):
    """UDP payloads of a classic pcap, with their source addresses."""
    data = open(path, "rb").read()
    at = 24
    while at < len(data):
        size = struct.unpack("<I", data[at + 8:at + 12])[0]
        frame = data[at + 16:at + 16 + size]
        at += 16 + size
        length = struct.unpack(">H", frame[38:40])[0]
        yield socket.inet_ntoa(frame[26:30]), frame[42:34 + length]


def rping(port, capture):
    """rping's client as rxe was it: its REQ but for addresses, its data with our names for things."""
    sent = list(packets_of(capture))
    request = bytearray(next(p for _, p in sent if p[0] == UD_SEND_ONLY and p[20 + 16:20 + 18] == b"\0\x10"))
    client = next(a for a, p in sent if p[0] == UD_SEND_ONLY and p[20 + 16:20 + 18] == b"\0\x10")
    me = End(PEER)
    mad = memoryview(request)[20:-4]
    # Our addresses: GIDs of the path, and in the private data; and the service is at another port.
    for at in (24 + 56, 24 + 72):
        mad[at + 12:at + 16] = socket.inet_aton(PEER if at == 24 + 56 else WEFT)
    struct.pack_into(">H", mad, 24 + 14, port)
    private = 24 + 140
    mad[private + 16:private + 20] = socket.inet_aton(PEER)
    mad[private + 32:private + 36] = socket.inet_aton(WEFT)
    comm, = struct.unpack_from(">I", mad, 24)
    qpn = int.from_bytes(mad[24 + 32:24 + 35], "big")
    asked = int.from_bytes(mad[24 + 44:24 + 47], "big")  # the PSN with which the other side begins
    me.send(bytes(request[:-4]))
    opcode, to, _, rest = me.receive()
    rep = rest[8:]
    assert opcode == UD_SEND_ONLY and to == 1 and rep[16:18] == b"\0\x13", rep[:32].hex()
    assert struct.unpack_from(">II", rest)[0] == GMP_KEY
    theirs, ours = struct.unpack_from(">II", rep, 24)
    assert ours == comm
    their_qpn = int.from_bytes(rep[24 + 12:24 + 15], "big")
    told = int.from_bytes(rep[24 + 20:24 + 23], "big")  # and ours
    rtu = bytearray(mad)
    rtu[16:18] = b"\0\x14"
    rtu[24:] = struct.pack(">II", comm, theirs).ljust(232, b"\0")
    me.send(bytes(request[:20]) + bytes(rtu))
    # What rping's client says with SENDs, in the capture: where its memory is.
    said = [p[12:-4] for a, p in sent if a == client and p[0] == RC_SEND_ONLY]
    psn, msn, expected = told, 0, asked
    text = b"rxe says hello".ljust(struct.unpack(">QII", said[0])[2] - 1, b".") + b"\0"
    # It reads what we have, says that it did, writes it back, and says so: as the server in the capture.
    for turn, (where, does) in enumerate(((said[0], RC_READ_REQ), (said[1], RC_WRITE_ONLY))):
        me.send(bth(RC_SEND_ONLY, their_qpn, psn, ack=True) + where)
        want = {RC_ACK, does, RC_SEND_ONLY}
        while want:
            opcode, to, number, rest = me.receive()
            assert to == qpn, hex(to)
            if opcode == RC_ACK:
                assert number == psn and aeth(rest) == (0x1F, turn + 1), (number, rest)
                want.discard(RC_ACK)
                continue
            if number != expected:
                continue  # sent again
            assert opcode in want, hex(opcode)
            want.discard(opcode)
            expected = (expected + 1) & 0xFFFFFF
            msn += 1
            answer = struct.pack(">I", 0x1F000000 | msn)
            if opcode == RC_READ_REQ:
                assert rest == where, rest.hex()
                me.send(bth(RC_READ_RESP_ONLY, their_qpn, number) + answer + text)
                continue
            if opcode == RC_WRITE_ONLY:
                assert rest == where + text, rest.hex()
            me.send(bth(RC_ACK, their_qpn, number) + answer)
        psn = (psn + 1) & 0xFFFFFF
    # DREQ; its DREP ends it.
    dreq = bytearray(rtu)
    dreq[16:18] = b"\0\x15"
    dreq[24:] = (struct.pack(">II", comm, theirs) + their_qpn.to_bytes(3, "big")).ljust(232, b"\0")
    me.send(bytes(request[:20]) + bytes(dreq))
    while True:
        opcode, to, _, rest = me.receive()
        if opcode == UD_SEND_ONLY and rest[8 + 16:8 + 18] == b"\0\x16":
            break
    print("connected, read, written, disconnected")


if sys.argv[1] == "attack":
    attack(int(sys.argv[2]), sys.argv[3:])
else:
    rping(int(sys.argv[2]), sys.argv[3])
