"""The digest of a certificate: it shows a change by mistake. It proves nothing."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(file: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a certificate holds but its digest."""
    kept = {key: value for key, value in file.items() if key != "digest"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def sealed(file: Mapping[str, Any]) -> str:
    """Return the text of a certificate, its digest put in."""
    return json.dumps({**file, "digest": digest(file)}, indent=1, ensure_ascii=False) + "\n"
