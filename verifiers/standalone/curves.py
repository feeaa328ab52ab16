"""What the scripts of all piecewise families share: functions through points, and their areas."""

CURVES = """
def curve(points, x):  # linear between the points (x, value), constant beyond them
    return np.interp(x, *zip(*points))
def area(points, x):  # the integral of a curve from 0 to x: trapezia, one a piece
    ends = [-np.inf, *(knot for knot, _ in points), np.inf]
    pieces = [(np.clip(0.0, a, b), np.clip(x, a, b)) for a, b in zip(ends, ends[1:])]
    return sum((v - u) * (curve(points, u) + curve(points, v)) / 2 for u, v in pieces)
def each(of, curves, x):  # of every client's and coordinate's curve at x
    return np.array([[of(p, x[k, j]) for j, p in enumerate(row)] for k, row in enumerate(curves)])
start = np.zeros((clients, d, OUTCOMES))
e = np.eye(d)[:, :1]  # noise is added to the first coordinate
"""
"""The start of a piecewise family's text."""

LINEAR = CURVES.replace(
    """constant beyond them
    return np.interp(x, *zip(*points))
""",
    """and on with the last slopes
    (k, p), (a, b) = np.transpose(points), [(points[1], points[0]), (points[-1], points[-2])]
    a, b = ((u[1] - v[1]) / (u[0] - v[0]) for u, v in (a, b))
    return np.interp(x, k, p) + a * np.minimum(x - k[0], 0) + b * np.maximum(x - k[-1], 0)
""",
)
"""The same with linear tails."""
