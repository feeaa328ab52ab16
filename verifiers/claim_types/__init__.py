"""The five ways in which a statement is judged; each is a decorator with fields of its own.

==============  =====================================================================  ===========
decorator       what the decorated function returns                                    decides by
==============  =====================================================================  ===========
``@bound``      the measured side of left ≤ right, of an algorithm that is run         runs
``@rate``       the measured side of a rate, along the cases' horizons                 runs, algebra
``@limit``      how far the iterate of an algorithm is, over a class of functions       potentials
``@comparison`` both sides on a case, as certified numbers                             certificates
``@proof``      the steps of a proof                                                   algebra
==============  =====================================================================  ===========
"""
