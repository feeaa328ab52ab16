"""FedNest's tuning experiment: its runs, what the public code does, its sentences."""
