"""Local-SCGDM (2022), Algorithm 1."""

TEXT = """
def run():  # Local-SCGDM, Algorithm 1, with g = inner and f = outer
    x = start
    u = m = np.zeros_like(x)
    yield State(x=x, u=u, m=m), {}, everyone
    for t in range(T):
        xi = coin()  # of g and ∇g  #? inner_noise
        zeta = coin()  # of ∇f  #? outer_noise and not (samples == "one" and inner_noise)
        zeta = xi  # one sample, as printed  #? outer_noise and samples == "one" and inner_noise
        g = inner(x)  #? not inner_noise
        g = inner(x, xi)  #? inner_noise
        u = g if t == 0 else (1 - gamma * eta) * u + gamma * eta * g
        df_u = d_outer(u)  #? not outer_noise
        df_u = d_outer(u, zeta)  #? outer_noise
        z = d_inner(x) * df_u  #? not inner_noise
        z = d_inner(x, xi) * df_u  #? inner_noise
        m = z if t == 0 else (1 - alpha * eta) * m + alpha * eta * z
        x = x - beta * eta * m
        marks = {"u": u, "m": m, "x": x, "z": z}
        if (t + 1) % p == 0:  # mod(t + 1, p) = 0: averages  #? averaged
            u = shared(u)  #? "u" in averaged
            m = shared(m)  #? "m" in averaged
            x = shared(x)  #? "x" in averaged
        yield State(x=x, u=u, m=m), marks, cohort
"""
