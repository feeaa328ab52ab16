"""What the texts of FedNest and its relatives share: FedIHGP, and local steps of both levels."""

SERIES = """
def cohort_mean(x):  # over a cohort of its own  #? partial
    return shared(x, some_clients(S))  #? partial
def cohort_mean(x):  #? not partial
    return shared(x)  #? not partial
def ihgp(x, y):  # FedIHGP: p_{N'}, or the sum of all terms
    p = cohort_mean(f_y(x, y, coin(b)))  #? y_noise
    p = cohort_mean(f_y(x, y))  #? not y_noise
    p = total = p / ell_g1  #? series == "summed"
    for n in range(1, N + 1):  #? series == "summed"
        p = cohort_mean(p - g_yy(x, y, p) / ell_g1)  #? series == "summed"
        total = total + p  #? series == "summed"
    return total  #? series == "summed"
    p, drawn = N * p / ell_g1, draw([1 / N] * N)  # N' uniform on 0, ..., N - 1  #? series == "sampled"
    for n in range(1, N):  #? series == "sampled"
        p = np.where(n <= drawn, cohort_mean(p - g_yy(x, y, p) / ell_g1), p)  #? series == "sampled"
    return p  #? series == "sampled"
"""
START = """    x = y = start
    x_start, y_start, h, q = x, y, 0 * x, 0 * y
    yield State(x=x, y=y, x_start=x_start, y_start=y_start, x_direction=h, y_direction=q), {}, everyone
    for k in range(K):"""
STEP = "yield State(x=x, y=y, x_start=x_start, y_start=y_start, x_direction=h, y_direction=q), marks, cohort"
INNER = f"""
            y_start = y
            cohort = some_clients(S)  #? partial
            q = shared(g_y(x, y))  # FedInn: the shared q  #? reduced and not g_noise and not partial
            q = g_y(x, y)  #? reduced and not g_noise and partial
            q = g_y(x, y, coin(b))  #? reduced and g_noise
            q = shared(q, cohort)  # FedInn: the shared q  #? reduced and partial
            q = shared(q)  # FedInn: the shared q  #? reduced and g_noise and not partial
            for nu in range(tau):
                zeta = coin(b)  #? g_noise
                q_i = g_y(x, y) - g_y(x, y_start) + q  #? reduced and not g_noise
                q_i = g_y(x, y)  #? not reduced and not g_noise
                q_i = g_y(x, y, zeta) - g_y(x, y_start, zeta) + q  #? reduced and g_noise
                q_i = g_y(x, y, zeta)  #? not reduced and g_noise
                y = y - beta * q_i
                marks = {{"q": q_i, "y": y}}
                if nu == tau - 1:
                    y = shared(y, cohort)  #? partial
                    y = shared(y)  #? not partial
                {STEP}
"""
"""A call of FedInn, in a loop of its own."""
OUTER = f"""
        x_start = x
        cohort = some_clients(S)  #? partial
        h = f_x(x, y)  #? not x_noise
        h = f_x(x, y, coin(b))  #? x_noise
        h = h - g_xy(x, y, ihgp(x, y))  # FedOut: the indirect part  #? N
        h = shared(h, cohort)  # the shared h  #? partial
        h = shared(h)  # the shared h  #? not partial
        for nu in range(tau_x):
            h_i = f_x(x, y) - f_x(x_start, y) + h  #? not x_noise
            xi = coin(b)  #? x_noise
            h_i = f_x(x, y, xi) - f_x(x_start, y, xi) + h  #? x_noise
            x = x - alpha * h_i
            marks = {{"h": h_i, "x": x}}
            if nu == tau_x - 1:
                x = shared(x, cohort)  #? partial
                x = shared(x)  #? not partial
            {STEP}
"""
"""A call of FedOut."""
