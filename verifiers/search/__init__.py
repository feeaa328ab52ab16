"""The search for counterexamples: instances and hyperparameters inside a statement's assumptions.

A search proposes, a judge decides: what is found here is a candidate until the judge of ``verify``
has confirmed it, and it is then made as small and round as possible.
"""
