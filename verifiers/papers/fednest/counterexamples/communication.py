"""FedNest (2022), table of LFedNest: the stated rounds, as an exact count of FedNest's.

The table says 2T + N + 3 rounds an iteration of FedNest and T + N + 3 of FedNest_SGD. FedIHGP draws
N' from 0, ..., N − 1 and takes N' + 1 averages, so no iteration takes as many: the longest takes
one round fewer, the mean (N + 1)/2 fewer. As a budget, which is how it may be meant, the table
holds. Here every average of vectors is counted where it is taken, for every N'.
The instance: two clients, g_i = (y − x − e_i)²/2 and f_i = y.
"""

from fractions import Fraction

e = (Fraction(1, 2), Fraction(-1, 2))  # e_i: the clients differ
m, T, N, ell = 2, 2, 4, 2  # ℓ_{g,1} = 2: the largest eigenvalue of g_i'' = [[1, −1], [−1, 1]]
alpha = beta = Fraction(1, 10)
rounds = 0


def average(values):
    global rounds  # one of communication: the clients send, and the server returns the mean
    rounds += 1
    return sum(values) / m


def dg(i, x, y):
    return y - x - e[i]


def FedInn(x, y, svrg):
    if not svrg:  # SGD on y: the clients' own gradients
        return average([y - beta * dg(i, x, y) for i in range(m)])
    q = average([dg(i, x, y) for i in range(m)])
    return average([y - beta * (dg(i, x, y) - dg(i, x, y) + q) for i in range(m)])


def FedIHGP(draw):
    p = Fraction(N, ell) * average([Fraction(1)] * m)  # p_0, of the clients' ∇_y f_i = 1
    for _ in range(draw):  # n = 1, ..., N'
        p = average([(1 - Fraction(1, ell)) * p] * m)  # ∇²_y g_i = 1
    return p


def FedOut(x, draw):
    p = FedIHGP(draw)
    h = average([0 + p] * m)  # ∇_x f_i − ∇²_xy g_i p, with ∇_x f_i = 0 and ∇²_xy g_i = −1
    return average([x - alpha * h] * m)


for name, svrg, stated in (("FedNest_SGD", False, T + N + 3), ("FedNest", True, 2 * T + N + 3)):
    counts = []
    for draw in range(N):  # every N', each with probability 1/N
        x, y, rounds = Fraction(1), Fraction(2), 0
        for _ in range(T):
            y = FedInn(x, y, svrg)
        x = FedOut(x, draw)
        counts.append(rounds)
    print(f"{name}: {counts} for N' = 0, ..., {N - 1}, mean {sum(counts) / N}; stated {stated}")
left, right = max(counts), stated
assert left < right
print("left: the most rounds that an iteration of FedNest takes, over all N'; right: 2T + N + 3")
print(f"REFUTED printed: N' random, exactly: left = {left!r} != right = {right!r}")
