"""20 Newsgroups as counts of hashed words: twenty classes, wide sparse rows."""

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FILE = "20news_bydate.jsonl.gz"
WORDS = 2**15


def news_file() -> Path | None:
    """Return where the posts are, None if SELECTRON_DATA does not have them."""
    path = Path(os.environ.get("SELECTRON_DATA", ".")) / FILE
    return path if path.is_file() else None


@cache
def newsgroups() -> tuple[Any, Any]:
    """Return a CSR matrix of word counts, subject and text, and the number of each post's group."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415

    path = news_file()
    if path is None:
        raise ValueError(f"{FILE} is not in SELECTRON_DATA: see docs/lab/multiclass.md")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        posts = [json.loads(line) for line in file]
    # Hashing knows no other post: nothing of the future is in a row.
    words = HashingVectorizer(n_features=WORDS, norm=None, alternate_sign=False)
    counts = words.transform(f"{post['title']} {post['text']}" for post in posts)
    _, groups = np.unique([post["topics"][0] for post in posts], return_inverse=True)
    return counts, groups.astype(np.int64)
