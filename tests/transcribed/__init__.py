"""What the papers print, in formulas that were typed from the papers: one table a paper.

A table knows no claim. ``tests/test_transcription.py`` compares it with the claims in numbers.

    FIXED       letter → its value, where any number will not do
    WHERE       abbreviation → formula
    BOUNDS      (claim, forms …) → right side, with a measured mean under its name
    ORDERS      (claim, form) → order in the horizon
    CONDITIONS  (file, name) → (letter, "<" or "<=", its largest value)
    ASSUMED     (claims, assumption → the roles that it bounds) …
"""
