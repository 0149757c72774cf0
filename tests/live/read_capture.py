# SPDX-License-Identifier: Apache-2.0
# Reads a capture of weft, strictly, and checks each packet's ICRC by itself: nothing here is weft's. Prints
# what is in it as JSON.
#
#	python3 read_capture.py FILE
import json
import struct
import sys
import zlib

ETHERNET, ERF = 1, 197


class Bad(Exception):
    pass


def must(true, what):
    if not true:
        raise Bad(what)


def options(body):
    """The options of a block: code to value."""
    found = {}
    while body:
        code, size = struct.unpack_from("<HH", body)
        if code == 0:
            must(size == 0 and len(body) == 4, "options after the last")
            return found
        found[code] = body[4 : 4 + size]
        must(len(found[code]) == size, "an option that is cut")
        body = body[4 + (size + 3) // 4 * 4 :]
    return found


def blocks(data):
    at = 0
    while at < len(data):
        must(len(data) - at >= 12, "a block that is cut")
        kind, size = struct.unpack_from("<II", data, at)
        must(size % 4 == 0 and 12 <= size <= len(data) - at, "a block's length")
        must(struct.unpack_from("<I", data, at + size - 4)[0] == size, "a block's second length")
        yield kind, data[at + 8 : at + size - 4]
        at += size


def masked_ip(ip):
    """An IP header or GRH, with ones where routers change it; its length."""
    if ip[0] >> 4 == 4:
        head = bytearray(ip[:20])
        head[1] = head[8] = head[10] = head[11] = 0xFF
        return bytes(head)
    head = bytearray(ip[:40])
    head[0] |= 0x0F
    head[1:4] = b"\xff\xff\xff"
    head[7] = 0xFF
    return bytes(head)


def transport(frame, link):
    """What the ICRC covers before the BTH, where the BTH is, and where the ICRC."""
    if link == ERF:
        size = (struct.unpack_from(">H", frame, 4)[0] & 0x7FF) * 4
        if frame[1] & 3 == 2:
            return bytes([frame[0] | 0xF0]) + frame[1:8], 8, size - 4
        must(frame[1] & 3 == 3, "an LRH that is followed by something else")
        return b"\xff" * 8 + masked_ip(frame[8:]), 48, size - 4
    kind = struct.unpack_from(">H", frame, 12)[0]
    must(kind in (0x0800, 0x86DD), "an ethertype that is not IP")
    head = masked_ip(frame[14:])
    udp = 14 + len(head)
    must(frame[14 + 9 if kind == 0x0800 else 14 + 6] == 17, "not UDP")
    port, size = struct.unpack_from(">HH", frame, udp + 2)
    must(port == 4791, "not RoCE's port")
    if kind == 0x0800:
        must(struct.unpack_from(">H", frame, 16)[0] == size + 20, "IP's length")
        words = struct.unpack(">10H", frame[14:34])
        must(sum(words) % 0xFFFF == 0, "IP's checksum")
    return b"\xff" * 8 + head + frame[udp : udp + 6] + b"\xff\xff", udp + 8, udp + size - 4


def is_right(frame, link):
    before, bth, end = transport(frame, link)
    head = bytearray(frame[bth : bth + 12])
    head[4] = 0xFF
    crc = zlib.crc32(before + bytes(head) + frame[bth + 12 : end])
    return crc == struct.unpack_from("<I", frame, end)[0]


def read(data):
    total = {"interfaces": {}, "packets": 0, "bad_icrc": 0, "cut": 0, "backwards": 0, "statistics": 0}
    interfaces = []
    last = 0
    for n, (kind, body) in enumerate(blocks(data)):
        must((n == 0) == (kind == 0x0A0D0D0A), "the section is what comes first, and once")
        if kind == 1:
            link, _, snaplen = struct.unpack_from("<HHI", body)
            must(link in (ETHERNET, ERF), "a link type")
            found = options(body[8:])
            must(found[9] == b"\x09", "times in nanoseconds")
            one = {"in": 0, "out": 0, "in_bytes": 0, "out_bytes": 0}
            interfaces.append((link, snaplen, one))
            total["interfaces"][found[2].decode()] = one
        elif kind == 5:
            one = interfaces[struct.unpack_from("<I", body)[0]][2]
            found = options(body[12:])
            one["received"] = struct.unpack("<Q", found[4])[0]
            one["missed"] = struct.unpack("<Q", found[5])[0]
            total["statistics"] += 1
        elif kind == 6:
            number, high, low, size, original = struct.unpack_from("<IIIII", body)
            link, snaplen, one = interfaces[number]
            frame = body[20 : 20 + size]
            must(size <= original and size <= snaplen, "a packet's length")
            at = high << 32 | low
            total["backwards"] += at < last
            last = at
            must(at > 1.7e18, "a time that is not after 2023")
            way = options(body[20 + (size + 3) // 4 * 4 :])[2][0] & 3
            must(way in (1, 2), "a direction")
            way = "in" if way == 1 else "out"
            if link == ERF:
                seconds = struct.unpack_from("<Q", frame)[0] / 2**32
                must(abs(seconds - at / 1e9) < 1e-5, "ERF's time")
                must(frame[8] == 21, "ERF's type")
                must(struct.unpack_from(">H", frame, 10)[0] == size, "ERF's record length")
                must(struct.unpack_from(">H", frame, 14)[0] == original - 16, "ERF's wire length")
                frame = frame[16:]
            one[way] += 1
            # The FCS is not in a capture, but on the link.
            one[way + "_bytes"] += original - 16 if link == ERF else original + 4
            total["packets"] += 1
            if size < original:
                total["cut"] += 1
            elif not is_right(frame, link):
                total["bad_icrc"] += 1
        else:
            must(kind == 0x0A0D0D0A, "a block of that type")
    return total


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as file:
            print(json.dumps(read(file.read()), indent=1))
    except (Bad, struct.error, IndexError, KeyError) as e:
        sys.exit(f"{sys.argv[1]}: {e!r}")
