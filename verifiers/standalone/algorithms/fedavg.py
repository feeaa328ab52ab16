"""FedAvg (McMahan et al. 2017)."""

TEXT = """
def run():  # FedAvg: local SGD, averaged every round
    w = start
    yield State(w=w), {}, everyone
    for s in range(S):
        cohort = some_clients(m)  #? partial
        for t in range(tau):
            u = d_loss(w)  #? not noise
            u = d_loss(w, coin(b))  #? noise
            w = w - eta * u
            marks = {"u": u, "w": w}
            if t == tau - 1:
                w = shared(w, cohort)  #? partial
                w = shared(w)  #? not partial
            yield State(w=w), marks, cohort
"""
