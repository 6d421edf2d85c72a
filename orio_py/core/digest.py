"""Content digests: the same content has the same digest on every machine and in every run."""

from __future__ import annotations

import hashlib
import json


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces.  Raises TypeError for what JSON cannot hold."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of `value`, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()
