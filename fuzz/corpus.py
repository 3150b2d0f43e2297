#!/usr/bin/env python3
"""Packs and unpacks the corpus of a fuzz target.

A corpus is one text file, fuzz/corpus/TARGET.txt: an input per line, its name, a tab, and its
bytes, of which those that are not printable ASCII are escaped as in a Rust byte string.

    fuzz/corpus.py unpack TARGET FOLDER    one file for each input
    fuzz/corpus.py pack TARGET FOLDER      the files of a folder, in place of the old corpus
"""

import re
import sys
from pathlib import Path

SHORT = {ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r", ord("\\"): "\\\\"}
LONG = {text[1]: byte for byte, text in SHORT.items()}


def escape(data: bytes) -> str:
    return "".join(
        SHORT.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}")
        for byte in data
    )


def unescape(text: str) -> bytes:
    def byte(found: re.Match) -> str:
        code = found[1]
        return chr(LONG[code] if code in LONG else int(code[1:], 16))

    return re.sub(r"\\(x[0-9a-f]{2}|.)", byte, text).encode("latin-1")


def main() -> None:
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    command, target, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    packed = Path(__file__).parent / "corpus" / f"{target}.txt"
    if command == "unpack":
        folder.mkdir(parents=True, exist_ok=True)
        for line in packed.read_text(encoding="ascii").splitlines():
            name, text = line.split("\t")
            (folder / name).write_bytes(unescape(text))
    else:
        # A name that a fuzzer gave is a hash, of which the beginning says enough.
        inputs = {}
        for file in sorted(folder.iterdir()):
            name = file.name
            inputs[name[:12] if re.fullmatch("[0-9a-f]{40}", name) else name] = file.read_bytes()
        lines = [f"{name}\t{escape(data)}\n" for name, data in sorted(inputs.items())]
        packed.write_text("".join(lines), encoding="ascii")


main()
