"""driftproof: how fast: workloads, each with a plain numpy loop to be measured against."""
