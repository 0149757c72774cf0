#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_data.py - prints the data of a report's page as JSON; the samples as a list of numbers."""
import base64
import json
import re
import struct
import sys
import zlib


def block(html, name):
    return zlib.decompress(base64.b64decode(re.search(rf'id="{name}">([^<]*)<', html).group(1)))


page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(block(page, "weft-data"))
samples = block(page, "weft-samples")
data["samples"] = struct.unpack(f"<{len(samples) // 2}H", samples)
json.dump(data, sys.stdout)
