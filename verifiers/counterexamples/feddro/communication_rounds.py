"""FedDRO (2023), section 4.1: Algorithm 1 communicates ⌊T/I⌋ times, not ⌈T/I⌉ times.

The instance: T = 10 and I = 3. Line 6 of Algorithm 1 shares where t + 1 mod I = 0: after t = 2, 5
and 8. The last step, t = 9, is never shared.
"""

from math import ceil

T, I = 10, 3  # noqa: E741 - the paper's letter
shared = [t for t in range(T) if (t + 1) % I == 0]
left, right = float(len(shared)), float(ceil(T / I))
print(f"shared after t = {shared}")
assert left < right
print(f"REFUTED printed: communications: left = {left!r} != right = {right!r}")
