"""ComFedL, Algorithm 1."""

TEXT = """
def run():  # ComFedL, Algorithm 1, with f = inner and g = outer
    w = start
    yield State(w=w), {}, everyone
    for s in range(S):  # line 2
        cohort = some_clients(m)  # line 3: C_s  #? partial
        for t in range(tau):  # line 7
            xi = coin(b)  # line 8: ξ of f and of ∇f  #? inner_noise
            zeta = coin(b1)  # line 10: ζ of ∇g  #? outer_noise and branch == "general"
            u = d_inner(w) * d_outer(inner(w))  # lines 8 to 13  #? quiet and of_states
            y = inner(w)  #? not inner_noise and not (quiet and of_states)
            y = inner(w, xi)  #? inner_noise
            xi = coin(b)  # another ξ of ∇f  #? inner_noise and samples == "independent"
            dg_y = d_outer(y)  #? (not outer_noise or branch == "special") and not (quiet and of_states)
            dg_y = d_outer(y, zeta)  #? outer_noise and branch == "general"
            u = d_inner(w) * dg_y  # line 13  #? not inner_noise and not (quiet and of_states)
            u = d_inner(w, xi) * dg_y  # line 13  #? inner_noise
            w = w - eta * u  # line 14
            marks = {"y": y, "u": u, "w": w}
            if t == tau - 1:
                w = shared(w, cohort)  # line 18  #? partial
                w = shared(w)  # line 18  #? not partial
            yield State(w=w), marks, cohort
"""
