"""Law: every variant of a workload computes the same round."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bench.cases.w1 import w1
from gpu_bench.cases.w2 import w2


@pytest.mark.parametrize("workload", [w1(3, 2), w1(10, 1), w2(3)], ids=lambda w: w.name)
def test_variants_agree(workload):
    made = {name: variant() for name, variant in workload.variants.items()}
    for name, ends in made.items():
        np.testing.assert_allclose(ends, made["numpy loop"], rtol=1e-11, atol=1e-12, err_msg=name)
    assert np.abs(made["driftproof"]).max() > 0
