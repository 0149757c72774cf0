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
    links: frozenset
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


class System(typing.NamedTuple):
    """What is for Linux alone, and the system headers that all else is content with."""

    linux: tuple  # folders, "cli/live" too
    posix: frozenset | None

    def is_linux(self, path):
        """Whether path, from src/ on, is in such a folder."""
        return any(path.startswith(folder + "/") for folder in self.linux)


def read_system(path=TABLE):
    """Returns the System of the table; one without a `posix` row asks for nothing."""
    rows = {"linux": [], "posix": [], "pure": []}
    for line in path.read_text().splitlines():
        name, equal, rest = line.partition(" = ")
        if equal and name in rows:
            rows[name] += rest.split()
    posix = frozenset(rows["posix"] + rows["pure"]) if rows["posix"] else None
    return System(tuple(rows["linux"]), posix)


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
        if line.startswith(("linux =", "posix =")):
            continue
        folder, level, io, uses, headers, links = parse_row(line, where)
        for used in sorted(words(uses) - {"weft"}):
            if used not in layers:
                raise TableError(f"{where}: {folder} uses {used}, which no row above it names")
            if layers[used].level >= int(level):
                raise TableError(f"{where}: {folder} uses {used}, which is not on a lower level")
        layers[folder] = Layer(int(level), io == "pure", words(uses), words(headers), words(links),
                               number)
    return layers, pure
