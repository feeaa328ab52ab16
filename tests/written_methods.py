"""Methods in plain numpy, as a user would write one round of them; ``slip`` makes a known mistake.

The mistakes are those of public bug reports: each is one line that is not the printed one.
"""

import numpy as np


def mean(vectors):
    return np.mean(list(vectors), 0)


def fedavg(slip=""):
    def fedavg(state, clients, cohort, local_steps, step_size, weighting):
        ends, shares = [], []
        for i in range(len(clients)) if slip == "absent clients" else cohort:
            w = state["w"]
            for _ in range(local_steps - (slip == "a step too few" and local_steps > 1)):
                w = w - step_size * clients[i].grad(w)
            ends.append(w)
            shares.append(clients[i].size if weighting == "samples" and not slip else 1)
        return {"w": np.average(ends, axis=0, weights=shares)}

    return fedavg


def fedprox(slip=""):
    def fedprox(state, clients, cohort, local_steps, step_size, proximity):
        ends = []
        for i in cohort:
            w = state["w"]
            for _ in range(local_steps):
                away = w - (w if slip == "no anchor" else state["w"])
                if slip == "plain norm" and away.any():
                    away = away / np.linalg.norm(away)
                w = w - step_size * (clients[i].grad(w) + proximity * away)
            ends.append(w)
        return {"w": mean(ends), "anchor": mean(ends)}

    return fedprox


def scaffold(slip=""):
    def scaffold(state, clients, cohort, local_steps, step_size, server_step_size):
        x, c, own = state["x"], state["control"], state["own_control"].copy()
        moves, changes, sign = [], [], -1 if slip == "sign" else 1
        for i in cohort:
            y = x
            for _ in range(local_steps):
                y = y - step_size * (clients[i].grad(y) - sign * (own[i] - c))
            new = own[i] - c + (x - y) / (local_steps * step_size)
            moves.append(y - x)
            changes.append(own[i] if slip == "c_i" else new - own[i])
            own[i] = new
        of = len(cohort) if slip == "|S| for N" else len(clients)
        return {
            "x": x + server_step_size * mean(moves),
            "own_control": own,
            "control": c + np.sum(changes, 0) / of,
        }

    return scaffold


def heavy_ball(slip=""):
    def heavy_ball(state, clients, step_size, momentum):
        w, before = state["w"], state["before"]
        g = mean(client.grad(w) for client in clients)
        sign = -1 if slip else 1
        return {"w": w - step_size * g + sign * momentum * (w - before), "before": w}

    return heavy_ball


def decaying_fedavg(slip=""):
    def decaying_fedavg(state, clients, cohort, round, local_steps, step_numerator, step_offset):
        ends = []
        for i in cohort:
            w = state["w"]
            for j in range(local_steps):
                t = round * local_steps + j + (not slip)
                w = w - step_numerator / (step_offset + t) * clients[i].grad(w)
            ends.append(w)
        return mean(ends)

    return decaying_fedavg


def q_fedavg(slip=""):
    def q_fedavg(state, clients, cohort, local_steps, step_size, fairness):
        w, deltas, hs = state["w"], [], []
        for i in cohort:
            end = w
            for _ in range(local_steps):
                end = end - step_size * clients[i].grad(end)
            move, loss = (w - end) / step_size, clients[i].loss(w)
            size = np.linalg.norm(move) ** (1 if slip else 2)
            deltas.append(loss**fairness * move)
            hs.append(fairness * loss ** (fairness - 1) * size + loss**fairness / step_size)
        return {"w": w - np.sum(deltas, 0) / np.sum(hs)}

    return q_fedavg


def fedavg_s(slip=""):
    def fedavg_s(state, clients, cohort, local_steps, inner_step_size, outer_step_size):
        ends = []
        for i in cohort:
            x, y = state["x"], state["y"]
            for _ in range(local_steps):
                up = y + inner_step_size * clients[i].upper_grad_y(x, y)
                x = x - outer_step_size * clients[i].upper_grad_x(x, up if slip else y)
                y = up
            ends.append((x, y))
        return {"x": mean(x for x, _ in ends), "y": mean(y for _, y in ends)}

    return fedavg_s


def comfedl(slip=""):
    def comfedl(state, clients, cohort, local_steps, step_size):
        ends = []
        for i in cohort:
            w = state["w"]
            for _ in range(local_steps):
                y, pullback = clients[i].inner(w)
                w = w - step_size * pullback(clients[i].outer_grad(y))
            ends.append(w)
        return {"w": mean(ends)}

    return comfedl


def local_scgdm(slip=""):
    def local_scgdm(
        state, clients, round, local_steps, step_size, momentum, inner_momentum, step_factor
    ):
        inner, outer = inner_momentum * step_size, momentum * step_size
        ends = []
        for client in clients:
            x, u, m = state["x"], state["u"], state["m"]
            for j in range(local_steps):
                value, pullback = client.inner(x)
                first = round == 0 and j == 0
                fresh = value if first else (1 - inner) * u + inner * value
                z = pullback(client.outer_grad(u if slip and not first else fresh))
                u = fresh
                m = z if first else (1 - outer) * m + outer * z
                x = x - step_factor * step_size * m
            ends.append((x, u, m))
        return {name: mean(part) for name, part in zip("xum", zip(*ends, strict=True), strict=True)}

    return local_scgdm


def fednest(slip=""):
    def fednest(
        state,
        clients,
        cohorts,
        inner_calls,
        inner_steps,
        outer_steps,
        inner_step_size,
        outer_step_size,
        terms,
    ):
        x, y, drawn = state["x"], state["y"], iter(cohorts)
        for _ in range(inner_calls):
            chosen, ends = next(drawn), []
            q = mean(clients[i].lower_grad(x, y) for i in chosen)
            for i in chosen:
                own = y
                for _ in range(inner_steps):
                    apart = clients[i].lower_grad(x, own) - clients[i].lower_grad(x, y)
                    own = own - inner_step_size * (apart + q)
                ends.append(own)
            y = mean(ends)
        chosen, step = next(drawn), 1 / clients[0].lower_smoothness
        p = step * mean(clients[i].upper_grad_y(x, y) for i in next(drawn))
        total, alpha = p, 1.0 if slip else step
        for _ in range(terms):
            p = mean(p - alpha * clients[i].lower_hessian_product(x, y, p) for i in next(drawn))
            total = total + p
        h = mean(
            clients[i].upper_grad_x(x, y) - clients[i].lower_cross_product(x, y, total)
            for i in chosen
        )
        ends = []
        for i in chosen:
            own = x
            for _ in range(outer_steps):
                apart = clients[i].upper_grad_x(own, y) - clients[i].upper_grad_x(x, y)
                own = own - outer_step_size * (apart + h)
            ends.append(own)
        return {"x": mean(ends), "y": y}

    return fednest
