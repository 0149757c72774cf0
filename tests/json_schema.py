# SPDX-License-Identifier: Apache-2.0
"""json_schema.py - holds JSON documents of weft against the schemas in schemas/, and those against them.

    json_schema.py schemas                   each file is a strict schema with words for every key
    json_schema.py valid FILE...             each is one whole document that its schema allows
    json_schema.py strict FILE...            and would not be with one key more, one less, or another type
    json_schema.py whole NAME... -- FILE...  the documents have every key that these schemas know
    json_schema.py whole -NAME... -- FILE... the same of all schemas but these

weft.run is the schema in schemas/weft.run.N.schema.json, of which the newest N counts. It ends with
status 1 and a line for each thing that is wrong.
"""
import copy
import json
import pathlib
import re
import sys

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "schemas"
NAME = re.compile(r"(weft\.[a-z]+)\.([0-9]+)\.schema\.json")


class Schema:
    """A schema, and the places in it: paths of the keys that lead to what it says of a value."""

    def __init__(self, path):
        self.path = path
        name, version = NAME.fullmatch(path.name).groups()
        self.name = name
        self.id = f"{name}/{version}"
        self.top = json.loads(path.read_text())
        self.validator = jsonschema.Draft202012Validator(self.top)

    def allows(self, value, place=()):
        return jsonschema.Draft202012Validator({**self.at(place), "$defs": self.top.get("$defs", {})}).is_valid(value)

    def at(self, place):
        part = self.top
        for key in place:
            part = part[key]
        return part

    def parts(self, place, value):
        """Every place that says something of value, which is known to be allowed: place, and what it refers to."""
        part = self.at(place)
        yield place
        if "$ref" in part:
            yield from self.parts(tuple(part["$ref"].removeprefix("#/").split("/")), value)
        for i in range(len(part.get("allOf", []))):
            yield from self.parts((*place, "allOf", i), value)
        for i in range(len(part.get("oneOf", []))):
            if self.allows(value, (*place, "oneOf", i)):
                yield from self.parts((*place, "oneOf", i), value)

    def of_key(self, places, key):
        """Where it is said what the key's value is: by its name, or as one of any name."""
        for place in places:
            if key in self.at(place).get("properties", {}):
                return (*place, "properties", key)
        for place in places:
            if isinstance(self.at(place).get("additionalProperties"), dict):
                return (*place, "additionalProperties")
        raise KeyError(key)

    def visit(self, value, visitor, place=(), path=()):
        """Calls visitor.value() for each value of a document and visitor.object() for each object, with the places."""
        places = list(self.parts(place, value))
        visitor.value(place, value, path)
        if isinstance(value, dict):
            visitor.object(places, value, path)
            for key in value:
                self.visit(value[key], visitor, self.of_key(places, key), (*path, key))
        elif isinstance(value, list):
            items = next(p for p in places if "items" in self.at(p))
            for i, one in enumerate(value):
                self.visit(one, visitor, (*items, "items"), (*path, i))

    def every(self, place=()):
        """All places that say what a key's value or a list's member is, and all with keys."""
        part = self.at(place)
        yield place
        for word in ("properties", "$defs"):
            for key in part.get(word, {}):
                yield from self.every((*place, word, key))
        for word in ("items", "additionalProperties"):
            if isinstance(part.get(word), dict):
                yield from self.every((*place, word))
        for word in ("allOf", "oneOf"):
            for i in range(len(part.get(word, []))):
                yield from self.every((*place, word, i))


def text(place):
    return "/".join(str(key) for key in place)


def schemas():
    """The newest version of each, by its id and by its name."""
    found = {}
    for path in sorted(FOLDER.iterdir(), key=lambda p: int((NAME.fullmatch(p.name) or [0, 0, 0])[2])):
        schema = Schema(path)
        found[schema.id] = found[schema.name] = schema
    return found


def read(path):
    """The one document in a file. Raises ValueError: it is none, or a key is there twice."""

    def once(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise ValueError(f"{path}: a key is there twice: {keys}")
        return dict(pairs)

    def refuse(word):
        raise ValueError(f"{path}: {word} is no JSON")

    body = pathlib.Path(path).read_text(encoding="utf-8")
    document = json.loads(body, object_pairs_hook=once, parse_constant=refuse)
    if not isinstance(document, dict) or list(document)[:2] != ["schema", "weft"]:
        raise ValueError(f"{path}: it does not begin with its schema and the version of weft")
    if not body.endswith("}\n") or body.endswith("\n\n"):
        raise ValueError(f"{path}: it does not end with a line's end")
    return document


# ---- what is wrong with schemas, documents, or both ----


def takes_counters(part):
    """Counters are rows of a table of weft's: an object of them may have more than the schema knows."""
    return part.get("unevaluatedProperties") == {"$ref": "#/$defs/counter"}


def check_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema.top)
    for place in schema.every():
        part = schema.at(place)
        if "properties" in part and not ("allOf" in part or place[:1] == ("$defs",) and len(place) == 2):
            if part.get("additionalProperties") is not False and not takes_counters(part):
                yield f"{schema.path.name}: {text(place)} takes any key"
        if "properties" in part and "allOf" in part and part.get("unevaluatedProperties") is not False and \
                not takes_counters(part):
            yield f"{schema.path.name}: {text(place)} takes any key"
        for key in part.get("required", []):
            if key not in part["properties"]:
                yield f"{schema.path.name}: {text(place)} requires {key}, of which it says nothing"
        if len(place) > 1 and place[-2] == "properties" or place[-1:] == ("additionalProperties",):
            if not part.get("description", "").strip():
                yield f"{schema.path.name}: {text(place)} has no description"
            kinds = part.get("type", [])
            kinds = [kinds] if isinstance(kinds, str) else kinds
            if set(kinds) & {"integer", "number"} and "unit" not in part:
                yield f"{schema.path.name}: {text(place)} has no unit"
    used = re.findall(r'"#/\$defs/([^"]*)"', schema.path.read_text())
    for name in schema.top.get("$defs", {}):
        if name not in used:
            yield f"{schema.path.name}: nothing refers to {name}"


def check_valid(schema, path, document):
    for error in schema.validator.iter_errors(document):
        yield f"{path}: {text(error.absolute_path)}: {error.message[:300]}"


class Mutants:
    """What a document becomes by one small mistake, at each place of its schema once, of all documents."""

    def __init__(self, schema, document, seen):
        self.schema = schema
        self.document = document
        self.seen = seen
        self.made = []

    def value(self, place, value, path):
        pass

    def object(self, places, value, path):
        of_any = [self.schema.at(p)["additionalProperties"] for p in places
                  if isinstance(self.schema.at(p).get("additionalProperties"), dict)]
        open_ = of_any or any(takes_counters(self.schema.at(p)) for p in places)
        required = {key for p in places for key in self.schema.at(p).get("required", [])}
        if self.is_new(places[0], "one key more"):
            self.change(path, "one key more", lambda o: o.__setitem__("planted", [] if open_ else 1))
        for key in value:
            if not self.is_new(places[0], "any" if of_any else "." + key):
                continue
            self.change(path, f"{key} as a list of lists", lambda o, key=key: o.__setitem__(key, [[1]]))
            if key in required:
                self.change(path, f"without {key}", lambda o, key=key: o.pop(key))

    def is_new(self, place, what):
        seen = (self.schema.id, place, what) in self.seen
        self.seen.add((self.schema.id, place, what))
        return not seen

    def change(self, path, what, change):
        mutant = copy.deepcopy(self.document)
        part = mutant
        for key in path:
            part = part[key]
        change(part)
        self.made.append((f"{text(path)}: {what}", mutant))


def check_strict(schema, path, document, seen):
    mutants = Mutants(schema, document, seen)
    schema.visit(document, mutants)
    for what, mutant in mutants.made:
        if schema.validator.is_valid(mutant):
            yield f"{path}: {schema.id} allows {what}"


class Seen:
    """Which keys documents had, with a value, and without."""

    def __init__(self, schema):
        self.schema = schema
        self.had, self.lacked = set(), set()

    def value(self, place, value, path):
        if value is not None:
            self.had.add(place)

    def object(self, places, value, path):
        for place in places:
            for key in self.schema.at(place).get("properties", {}):
                if key not in value:
                    self.lacked.add((*place, "properties", key))


def check_whole(schema, documents):
    seen = Seen(schema)
    for document in documents:
        schema.visit(document, seen)
    for place in schema.every():
        if place[-1:] == ("additionalProperties",) or len(place) > 1 and place[-2] == "properties":
            owner = schema.at(place[:-2] if place[-2] == "properties" else place[:-1])
            if place not in seen.had:
                yield f"{schema.path.name}: no document has {text(place)}"
            elif place[-2] == "properties" and place[-1] not in owner.get("required", []) and place not in seen.lacked:
                yield f"{schema.path.name}: every document has {text(place)}, and it is not required"


def main(args):
    known = schemas()
    what, args = args[0], args[1:]
    if what == "schemas":
        return [line for name, s in known.items() if "/" in name for line in check_schema(s)]
    names, files = [], args
    if what == "whole":
        split = args.index("--")
        names, files = args[:split], args[split + 1:]
    wrong, documents, mutated = [], {}, set()
    for path in files:
        try:
            document = read(path)
            schema = known[document["schema"]]
        except (ValueError, KeyError) as error:
            wrong.append(f"{path}: {error}")
            continue
        documents.setdefault(schema.name, []).append(document)
        wrong += check_valid(schema, path, document)
        if what == "strict" and not wrong:
            wrong += check_strict(schema, path, document, mutated)
    if what == "whole" and not wrong:
        if names[0].startswith("-"):
            names = [s.name for key, s in known.items() if "/" not in key and "-" + key not in names]
        for name in names:
            wrong += check_whole(known[name], documents.get(name, []))
    return wrong


if __name__ == "__main__":
    problems = main(sys.argv[1:])
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
