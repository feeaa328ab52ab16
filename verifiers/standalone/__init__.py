"""Findings of a search as scripts: programs of numpy alone that recompute both sides of a violation.

A script is put together from texts. They are Python that the judge never runs:

* ``problems/<family>.j2``: the oracles of a problem family, from its formulas;
* ``algorithms/<algorithm>.j2``: the algorithm's loop, from the paper's pseudo-code;
* the claim's own function of a view, as it stands in its file, over a few lines that give it what
  it asks for (``left``);
* the right side, printed from its expression, with a number for each letter (``right``).

**The two folders are the registry**: a file there belongs to the family or the algorithm of its name,
with ``_`` for ``-``. Algorithms define ``run()``, which yields ``(state, marks, cohort)`` at the start
and after every local step; the cohort is 1 for clients that take part, [clients, 1, outcomes]. The
files are Jinja's templates, whose conditions are on the case. Arrays are [clients, coordinates, outcomes]: a script
goes through all outcomes of its draws at once, or samples them where they are too many.
"""
