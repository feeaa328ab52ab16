"""FedSVRG (FedNest, 2022, after Konečný et al. 2018)."""

TEXT = """
def run():  # FedSVRG
    x = x_start = start
    h = 0 * x
    yield State(x=x, x_start=x_start, direction=h), {}, everyone
    for k in range(K):
        x_start = x
        cohort = some_clients(S)  #? partial
        h = d_loss(x)  #? not noise
        h = d_loss(x, coin(b))  #? noise
        h = shared(h, cohort)  # the shared gradient  #? partial
        h = shared(h)  # the shared gradient  #? not partial
        for nu in range(tau):
            h_i = -d_loss(x) + d_loss(x_start) - h  #? not noise
            xi = coin(b)  #? noise
            h_i = -d_loss(x, xi) + d_loss(x_start, xi) - h  #? noise
            x = x + alpha * h_i
            marks = {"h": h_i, "x": x}
            if nu == tau - 1:
                x = shared(x, cohort)  #? partial
                x = shared(x)  #? not partial
            yield State(x=x, x_start=x_start, direction=h), marks, cohort
"""
