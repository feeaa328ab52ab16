"""Law: results are the same to the bit for any number of workers, and after a SIGKILL."""

from __future__ import annotations

import pytest

from tests.commands import driftproof, results, started

# sampled, exact and symbolic rows; several blocks
SELECT = ("comfedl/lemma-2", "comfedl/remark-1", "--profile", "smoke")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    made = driftproof("verify", *SELECT, "--workers", "1", "--out", str(folder))
    assert made.returncode == 0, made.stderr
    return results(folder)


def test_two_workers_give_the_same_bits_as_one(undisturbed, tmp_path):
    assert started("verify", *SELECT, "--workers", "2", "--out", str(tmp_path)).returncode == 0
    assert results(tmp_path) == undisturbed


def test_a_resumed_run_computes_nothing_twice(undisturbed, tmp_path):
    from driftproof.toolkit.ledger import Ledger
    from driftproof.verifiers.running.jobs import ClaimTask
    from driftproof.verifiers.running.scheduler import Cache, run_jobs
    from driftproof.verifiers.verify import select

    (leaf,) = select(["comfedl/lemma-2"])
    item = ClaimTask(leaf, "exact", tier="smoke", case=leaf.load().cases[0].key)

    def job():
        ((blob, _),) = yield [item]
        return blob

    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (first,) = run_jobs([job()], Cache(ledger, resume=False), workers=1)
        ledger.keep(_key(item), b"from the ledger", 1.0)
        (second,) = run_jobs([job()], Cache(ledger, resume=True), workers=1)
    assert first != b"from the ledger"
    assert second == b"from the ledger"


def _key(item):
    from driftproof.verifiers.running.scheduler import task_key

    return task_key(item)


def test_a_unit_of_other_code_is_not_reused(tmp_path):
    """The unit of a user's file is named by its content."""
    from driftproof.verifiers.running.jobs import ClaimTask
    from driftproof.verifiers.running.scheduler import task_key
    from driftproof.verifiers.verify import select

    keys = []
    for text in ("", "# a change\n"):
        path = tmp_path / f"own{len(keys)}.py"
        source = select(["comfedl/lemma-2"])[0].path.read_text()
        path.write_text(text + source.replace("comfedl/lemma-2", "own/drift"))
        (leaf,) = select([str(path)])
        keys.append(task_key(ClaimTask(leaf, "exact")))
    assert keys[0] != keys[1]
