"""Findings of a search as scripts: programs of numpy alone that recompute both of its sides.

A script is a trace. The case is run once, by the algorithm's own text, the problem's and the
claim's, with tensors whose operations write lines of numpy (``traced``, ``following``); they are
printed with the names of those texts, and as loops where steps repeat themselves (``printed``).
The right side is printed from its expression, with a number for each letter (``right``).

So every algorithm, problem and measure has a script, a user's own too. What it does not give is a
second opinion on an algorithm's text: the claims on the papers' algorithms give that, which run the
pseudo-code in plain numpy. No script is kept whose numbers are not the engine's to 1e-12.

Arrays are [clients, coordinates, outcomes]: a script goes through all outcomes of its draws at
once, or samples them where they are too many.
"""
