"""The four ways in which a statement is judged; each is a decorator with fields of its own.

==============  =====================================================================  ===========
decorator       what the decorated function returns                                    decides by
==============  =====================================================================  ===========
``@bound``      the measured side of left ≤ right, of an algorithm that is run         runs
``@rate``       the measured side of a rate, along the cases' horizons                 runs, algebra
``@comparison`` both sides on a case, as certified numbers                             certificates
``@proof``      the steps of a proof                                                   algebra
==============  =====================================================================  ===========
"""
