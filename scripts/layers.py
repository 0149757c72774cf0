# SPDX-License-Identifier: Apache-2.0
"""The table in layers.txt, as the check scripts use it."""
import pathlib
import typing

TABLE = pathlib.Path(__file__).with_name("layers.txt")


class Layer(typing.NamedTuple):
    """A row: what the folder may do."""

    level: int
    pure: bool
    uses: frozenset
    headers: frozenset  # system headers beside the pure ones
    line: int  # of the row, for messages


class TableError(Exception):
    """The table itself is wrong; the text is a message with file and line."""


def words(cell):
    return frozenset(cell.split()) - {"-"}


def parse_row(line, where):
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) != 6 or not cells[1].isdigit() or cells[2] not in ("pure", "any"):
        raise TableError(f"{where}: a row is folder | level | pure or any | uses | headers | links")
    return cells


def read(path=TABLE):
    """Returns ({folder: Layer}, pure headers), or raises TableError."""
    layers = {}
    pure = frozenset()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("pure ="):
            pure = words(line.split("=", 1)[1])
            continue
        folder, level, io, uses, headers, _ = parse_row(line, where)
        for used in sorted(words(uses) - {"weft"}):
            if used not in layers:
                raise TableError(f"{where}: {folder} uses {used}, which no row above it names")
            if layers[used].level >= int(level):
                raise TableError(f"{where}: {folder} uses {used}, which is not on a lower level")
        layers[folder] = Layer(int(level), io == "pure", words(uses), words(headers), number)
    return layers, pure
