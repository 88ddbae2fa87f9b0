"""Lines of named numbers: svmlight's, and Vowpal Wabbit's text."""

from math import isfinite

from selectron.arrays import Values


def svmlight_values(line: str) -> Values:
    """Read `label index:value …`.

    >>> svmlight_values("-1 3:0.5 7:2 # a comment")
    {'label': -1, 'fields': {'3': 0.5, '7': 2.0}}
    """
    label, *entries = line.partition("#")[0].split() or [""]
    fields = {}
    for entry in entries:
        name, colon, value = entry.partition(":")
        if not colon:
            raise ValueError(f"{entry!r:.60} is not index:value")
        if name != "qid":
            fields[name] = _number(value)
    given = _number(label)
    return {"label": int(given) if given.is_integer() else given, "fields": fields}


def vw_values(line: str) -> Values:
    """Read `[label] [importance] ['tag]|namespace[:scale] feature[:value] …`.

    Features are called namespace^feature. A line without a label is a row without one.

    >>> vw_values("1 2.0 'a7|words:2 good day:3 |n size:0.5")
    {'label': '1', 'id': 'a7', 'fields': {'words^good': 2.0, 'words^day': 6.0, 'n^size': 0.5}}
    """
    head, *spaces = line.rstrip("\r\n").split("|")
    if not spaces:
        raise ValueError("there is no | before the features")
    words = head.split()
    values: Values = {}
    tag = words.pop() if words and (words[-1].startswith("'") or not head[-1:].isspace()) else ""
    if words:
        values["label"] = words[0]
    if tag:
        values["id"] = tag.removeprefix("'")
    fields: dict[str, float] = {}
    for space in spaces:
        features = space.split()
        name, scale = "", 1.0
        if features and not space[:1].isspace():
            name, _, given = features.pop(0).partition(":")
            scale = _number(given) if given else 1.0
        for feature in features:
            word, _, given = feature.rpartition(":") if ":" in feature else (feature, "", "")
            named = f"{name}^{word}" if name else word
            fields[named] = fields.get(named, 0.0) + scale * (_number(given) if given else 1.0)
    return values | {"fields": fields}


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r:.60} is not a number") from None
    if not isfinite(number):
        raise ValueError(f"{text!r:.60} is not a number")
    return number
