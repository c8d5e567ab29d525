"""Prints what a page of heaprec knows beside its samples, as JSON. usage: page_data.py PAGE"""

import base64
import pathlib
import re
import sys
import zlib


def header(page):
    text = pathlib.Path(page).read_text(encoding="utf-8")
    packed = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', text).group(1)
    plain = zlib.decompress(base64.b64decode(packed))
    return plain[4:4 + int.from_bytes(plain[:4], "little")].decode()


if __name__ == "__main__":
    print(header(sys.argv[1]))
