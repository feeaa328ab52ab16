"""FedDRO (2023), Algorithm 1, and its change in Theorem 4.2."""

TEXT = """
def run():  # FedAvg for compositions, FedDRO's Algorithm 1, with g = inner and f = outer
    x, y = start, inner(start)
    yield State(x=x, y=y), {}, everyone
    y = shared(y)  # ȳ^0  #? sharing == "case-2"
    for t in range(T):
        y = shared(y)  # Theorem 4.2: at every step  #? sharing == "every-step"
        eta_t = eta  #? not decay
        eta_t = eta / (1 + t) ** decay if t % I else eta  #? decay
        u = d_inner(x) * d_outer(y)
        x = x - eta_t * u
        marks = {"u": u, "x": x}
        if (t + 1) % I == 0:
            x = shared(x)
        y = inner(x)
        if (t + 1) % I == 0:  #? sharing == "case-2"
            y = shared(y)  #? sharing == "case-2"
        yield State(x=x, y=y), marks, cohort
"""
