"""Files that somebody has changed on purpose, their checksum made valid again."""

import hashlib
import json
from copy import deepcopy

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save as to_bytes

WHOLE = [0, 1, -1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 100, 511, 512, 10**6, 10**9, 2**31, 2**32]
WHOLE += [2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**31), -(2**63)]
NUMBERS = [*map(float, WHOLE), 0.5, -0.5, 1.5, 1e-300, 1e300, -1e300, 5e-324, 1.7e308, -0.0]
NUMBERS += [float("nan"), float("inf"), float("-inf"), 0.1, 0.999, 1.001]
WORDS = ["", "x", "yes", "float32", "float64", "<U3", "|O", "<f8", "<U99999999", "scale", "random"]
WORDS += ["projection", "smallest", "kernel", "linear", "members", "Perceptron", "Ridge", "Probit"]
WORDS += ["Rehearsal", "Winnow", "Always", "Auto", "Capped", "Budget", "Floor", "Automatic", "Text"]
WORDS += ["UpdateRule", "FirstOrder", "QueryRule", "Scaling", "Committee", "LearnAlpha", "rbf"]
WORDS += ["error<=0.5", "os:system", "é\ud800", "0" * 5000]
DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint32", "uint8", "bool"]
KEYS = {"selectron learner": "learner", "selectron experts": "kind"}


class Original:
    """A file in parts: metadata, description, arrays; and all places where it can be changed."""

    def __init__(self, path):
        with safe_open(str(path), "numpy") as file:
            self.metadata = file.metadata()
            self.tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
        self.key = KEYS[self.metadata["format"]]
        text = self.metadata[self.key]
        self.description = json.loads(text) if self.key == "learner" else text
        places = [("tensor", name) for name in self.tensors]
        for name, array in self.tensors.items():
            entries = range(array.size) if "numbers" in name or array.dtype.kind in "iu" else ()
            places += [("entry", (name, k)) for k in [*entries][:60]]
        places += [("leaf", place) for place in _places(self.description)]
        places += [("metadata", name) for name in self.metadata]
        self.places = places

    def mutant(self, number, path):
        """Write mutant number so and so; return what was changed."""
        rng = np.random.default_rng([number, len(self.places)])
        kind, place = self.places[number % len(self.places)]
        tensors = {name: array.copy() for name, array in self.tensors.items()}
        description, metadata = deepcopy(self.description), dict(self.metadata)
        change = {"tensor": _tensor, "entry": _entry, "leaf": _leaf, "metadata": _metadata}[kind]
        changed = {"tensors": tensors, "description": description, "metadata": metadata}
        said = change(changed, place, rng)
        if rng.random() < 0.1:  # two at once
            other_kind, other = self.places[int(rng.integers(len(self.places)))]
            if other_kind == "entry" and other[0] in changed["tensors"]:
                said += f" and {_entry(changed, other, rng)}"
        self.write(path, changed["metadata"], changed["tensors"], changed["description"])
        return f"{kind} {place}: {said}"[:300]

    def write(self, path, metadata, tensors, description):
        """Write a file of these parts, with a checksum that is right."""
        text = description if isinstance(description, str) else json.dumps(description)
        if self.key in metadata:
            metadata = metadata | {self.key: text}
        _write(path, {name: _encodable(value) for name, value in metadata.items()}, tensors)


def _write(path, metadata, tensors):
    metadata.pop("sha256", None)
    tensors = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in tensors.items()}
    total = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        total.update(f"{name} {tensors[name].dtype.name} {tensors[name].shape}".encode())
        total.update(tensors[name].tobytes())
    path.write_bytes(to_bytes(tensors, metadata | {"sha256": total.hexdigest()}))


def _encodable(text):
    return text.encode(errors="replace").decode()


def _places(value, place=()):
    """List where every value of a description stands."""
    inner = []
    if isinstance(value, dict):
        inner = [p for key, each in sorted(value.items()) for p in _places(each, (*place, key))]
    if isinstance(value, list):
        inner = [p for k, each in enumerate(value) for p in _places(each, (*place, k))]
    return [place, *inner]


def _pick(rng, values):
    return values[int(rng.integers(len(values)))]


def _number(rng, dtype):
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(_pick(rng, NUMBERS)).astype(dtype)
    if dtype.kind == "b":
        return np.array(rng.random() < 0.5)
    info = np.iinfo(dtype)
    return np.array(min(max(_pick(rng, WHOLE), int(info.min)), int(info.max)), dtype)


def _entry(changed, place, rng):
    name, k = place
    array = changed["tensors"][name]
    if k >= array.size:
        return "nothing"
    value = _number(rng, array.dtype)
    if array.dtype.kind in "iuf" and rng.random() < 0.3:
        nudged = array.reshape(-1)[k].astype(float) + _pick(rng, [-1, 1, 2, -2])
        value = np.array(max(nudged, 0.0) if array.dtype.kind == "u" else nudged).astype(
            array.dtype
        )
    array.reshape(-1)[k] = value
    return f"{name}[{k}] = {value}"


def _tensor(changed, name, rng):
    tensors, array = changed["tensors"], changed["tensors"][name]
    what = int(rng.integers(12))
    if what == 0:
        del tensors[name]
    elif what == 1:
        tensors[f"{name}.more"] = array
    elif what == 2:
        tensors[name] = array.astype(_pick(rng, DTYPES))
    elif what == 3:
        tensors[name] = array.reshape(-1)[: int(rng.integers(array.size + 1))]
    elif what == 4:
        tensors[name] = np.concatenate([array.reshape(-1)] * 2)
    elif what == 5:
        tensors[name] = array.reshape(array.shape[::-1])
    elif what == 6:
        tensors[name] = array[np.newaxis] if rng.random() < 0.5 else array.reshape(-1)[:0]
    elif what == 7:
        tensors[name] = np.full_like(array, _number(rng, array.dtype))
    elif what == 8 and array.size:
        tensors[name] = rng.permutation(array.reshape(-1)).reshape(array.shape)
    elif what == 9:
        other = _pick(rng, sorted(tensors))
        tensors[name], tensors[other] = tensors[other], array
    elif what == 10 and array.ndim and len(array):
        tensors[name] = array[:-1] if rng.random() < 0.5 else np.concatenate([array, array[-1:]])
    elif array.size:
        return _entry(changed, (name, int(rng.integers(array.size))), rng)
    return f"tensor change {what}"


def _leaf(changed, place, rng):
    if not place:
        changed["description"] = _pick(rng, [None, 1, [], {}, "", "StaticExpert", "FixedShare"])
        return "the whole"
    holder = changed["description"]
    for key in place[:-1]:
        holder = holder[key]
    key, old = place[-1], holder[place[-1]]
    what = int(rng.integers(10))
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        holder[f"{key}s"] = old
    elif what == 1:
        holder.append(old)
    elif what == 2:
        holder[key] = _pick(rng, [None, True, False, [], {}, [[]], {"rule": "Ridge"}])
    elif what == 3:
        holder[key] = _pick(rng, WORDS)
    elif what == 4:
        holder[key] = _pick(rng, NUMBERS)
    elif what == 5 and isinstance(old, list):
        holder[key] = old[::-1] if rng.random() < 0.5 else old * 2
    elif what == 6:
        other = _pick(rng, _places(changed["description"])[1:])
        found = changed["description"]
        for step in other:
            found = found[step]
        holder[key] = deepcopy(found)
    elif what == 7 and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = old + _pick(rng, [-1, 1, 2])
    else:
        holder[key] = _pick(rng, WHOLE)
    return f"{str(old)[:60]} -> {str(holder[key])[:60] if _has(holder, key) else 'gone'}"


def _has(holder, key):
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _metadata(changed, name, rng):
    metadata = changed["metadata"]
    what = int(rng.integers(6))
    if what == 0:
        metadata.pop(name)
    elif what == 1:
        changed["description"] = _pick(
            rng, ["[" * 100_000, '{"a":' * 50_000, "", "nonsense", "NaN", "é"]
        )
    elif what == 2:
        metadata["version"] = _pick(rng, ["", "0", "4", "-1", "²", "9" * 5000, "3.0", " 3"])
    elif what == 3:
        metadata["format"] = _pick(rng, ["", "selectron", "selectron learner", "selectron experts"])
    elif what == 4:
        metadata["more"] = "more"
    else:
        metadata[name] = _pick(rng, WORDS)
    return f"metadata change {what}"
