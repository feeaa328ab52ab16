"""FedDRO (2023), Algorithm 2."""

TEXT = """
def run():  # FedDRO, Algorithm 2, with g = inner, f = outer and h = plain
    x = x_previous = start  # x^{-1} = x^0
    y = inner(x)  #? embedding == "given" or not inner_noise
    y = inner(x, coin(b))  # y^0, a first minibatch  #? embedding == "sampled" and inner_noise
    y = y + e_0 * np.eye(d)[:, :1]  # y^0 = g(x^0) + e_0  #? embedding == "given" and embedding_error
    yield State(x=x, x_previous=x, y=y), {}, everyone
    for t in range(T):
        zeta = coin(b)  #? inner_noise
        g, g_previous = inner(x), inner(x_previous)  #? not inner_noise
        g, g_previous = inner(x, zeta), inner(x_previous, zeta)  #? inner_noise
        if t > 0:  #? first_step == "given"
            y = (1 - beta) * (y - g_previous) + g  # (8)  #? first_step == "given"
        y = (1 - beta) * (y - g_previous) + g  # (8)  #? first_step == "computed"
        y = shared(y)  # ȳ^t
        u = d_inner(x) * d_outer(y)  #? not inner_noise
        u = d_inner(x, zeta) * d_outer(y)  #? inner_noise
        u = u + d_plain(x)  #? plain and not plain_noise
        u = u + d_plain(x, coin(b))  #? plain_noise
        x_previous, x = x, x - eta * u
        marks = {"u": u, "x": x}
        if (t + 1) % I == 0:
            x = shared(x)
        yield State(x=x, x_previous=x_previous, y=y), marks, cohort
"""
