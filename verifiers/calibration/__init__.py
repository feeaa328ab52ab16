"""Calibration: how often each kind of judge is wrong, on statements whose truth is known.

    python -m driftproof.verifiers.calibration FOLDER

prints a table of both errors for every kind (``verifiers.calibration.kinds``), then the tables of
the betting test, and draws its power curve into the folder.
"""
