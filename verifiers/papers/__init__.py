"""One folder a paper: claims, counterexamples, experiments, references, verdicts on record."""
