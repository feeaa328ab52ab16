"""Compares what two checkouts of driftproof say: the gate of a change that is to alter nothing.

    python -m tests.same BASE HEAD [--climbs N] [--only PART ...] [--keep FOLDER]

Each of the two runs what a user runs, with the interpreter that runs this. Compared are

- ``verify``: the rows of ``verify --profile quick --seed 0``, without seconds and environment;
- ``certificates``: their files, byte for byte;
- ``pages``: the text of the report's page and of the experiments' pages;
- ``scripts``: what every counterexample script prints;
- ``search``: the findings of ``falsify '*' --climbs N``;
- ``experiments``: the sentences of each experiment at smoke size.

Exit status 0 if all are equal; else 1, and each difference is printed. With ``--keep`` what a
checkout made is kept under its commit, and taken from there if the checkout has no changes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

PARTS = ("verify", "certificates", "pages", "scripts", "search", "experiments")
WITHOUT = ("seconds", "environment", "memory")
"""What is outside any promise of reproducibility."""
SHOWN = 12
"""Differences that are printed of each kind."""


def made_by(checkout: Path, out: Path, climbs: int, only: list[str]) -> dict[str, Any]:
    """Run a checkout's commands and return what they said: part, then name, then text."""
    env = os.environ | {"PYTHONPATH": str(checkout), "COLUMNS": "200"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=out, env=env, capture_output=True, text=True
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(words)} in {checkout}: {done.returncode}\n{done.stderr}")
        return done.stdout

    made: dict[str, Any] = {}
    if {"verify", "certificates", "pages"} & set(only):
        run("-m", "driftproof", "verify", "--profile", "quick", "--seed", "0", "--out", "verify")
        results = json.loads((out / "verify/results.json").read_text())
        made["verify"] = dict(_rows(results["results"]))
        for statement in results["statements"]:
            of = f"statement {statement['claim']}"
            made["verify"][f"{of}, {sum(key.startswith(of + ',') for key in made['verify'])}"] = (
                statement
            )
        made["certificates"] = {
            path.name: path.read_text() for path in (out / "verify/certificates").iterdir()
        }
        made["pages"] = {"report": text_of(out / "verify/index.html")}
    if "scripts" in only:
        scripts = sorted((checkout / "verifiers/papers").glob("*/counterexamples/*.py"))
        made["scripts"] = {f"{s.parts[-3]}/{s.name}": run(str(s)) for s in scripts}
    if "search" in only:
        run("-m", "driftproof", "falsify", "*", "--climbs", str(climbs), "--out", "search")
        found = json.loads((out / "search/search.json").read_text())["findings"]
        made["search"] = dict(_rows(found))
    if {"experiments", "pages"} & set(only):
        made["experiments"] = {}
        made.setdefault("pages", {})
        for one in json.loads(run("-m", "driftproof", "list", "experiments", "--json")):
            name = one["name"]
            folder = f"experiments/{name.replace('/', '-')}"
            run("-m", "driftproof", "run", name, "--profile", "smoke", "--out", folder)
            ended = json.loads((out / folder / "experiment.json").read_text())
            made["experiments"][name] = [ended["sentences"], ended["findings"]]
            made["pages"][name] = text_of(out / folder / "index.html")
    return {part: made[part] for part in only}


def _rows(rows: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for number, row in enumerate(rows):
        case = row["case"].get("key") if isinstance(row.get("case"), dict) else None
        name = f"{row['claim']}, {row['form']}, {row.get('reading') or ''}, {case or number}"
        kept = {key: value for key, value in row.items() if key not in WITHOUT}
        if row.get("evidence") == "exact":  # the last digits of a margin depend on the memory's use
            kept = {**kept, "margin": None, "lhs": row["lhs"]["mean"]}
        yield name, kept


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def text_of(page: Path) -> list[str]:
    """Return what a reader sees of a page, without where and how long it ran."""
    parser = _Text()
    parser.feed(page.read_text())
    return [line for line in parser.lines if " s on " not in line and "MB" not in line]


def differences(one: Any, other: Any) -> Iterator[str]:
    """Yield where two parts differ."""
    for name in [*one, *(n for n in other if n not in one)]:
        if name not in other or name not in one:
            yield f"{name}: only in {'base' if name in one else 'head'}"
        elif one[name] != other[name]:
            yield f"{name}: {_where(one[name], other[name])}"


def _where(one: Any, other: Any) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
        return "; ".join(f"{k}: {one.get(k)!r:.160} -> {other.get(k)!r:.160}" for k in keys[:4])
    if isinstance(one, str) and isinstance(other, str):
        one, other = one.splitlines(), other.splitlines()
    at = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return f"{len(one)} and {len(other)} lines"
    return f"line {at + 1}: {one[at]!r:.200} -> {other[at]!r:.200}"


def main() -> int:
    """Compare two checkouts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--climbs", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    sides = []
    for checkout in (given.base.resolve(), given.head.resolve()):
        git = ["git", "-C", str(checkout)]
        commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
        clean = not subprocess.check_output([*git, "status", "--porcelain"], text=True)
        kept = given.keep / f"{commit}-{given.climbs}.json" if given.keep and clean else None
        made = json.loads(kept.read_text()) if kept and kept.exists() else {}
        with tempfile.TemporaryDirectory() as out:
            missing = [part for part in given.only if part not in made]
            made |= made_by(checkout, Path(out), given.climbs, missing)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(made))
        sides.append(made)
    base, head = (json.loads(json.dumps(side)) for side in sides)
    found = False
    for part in PARTS:
        if part not in given.only:
            continue
        differ = list(differences(base[part], head[part]))
        found |= bool(differ)
        more = [f"and {len(differ) - SHOWN} more"] * (len(differ) > SHOWN)
        lines = "".join(f"  {line}\n" for line in (*differ[:SHOWN], *more))
        sys.stdout.write(f"{part}: {len(differ)} of {len(base[part])} differ\n{lines}")
    return int(found)


if __name__ == "__main__":
    raise SystemExit(main())
