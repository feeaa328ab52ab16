"""FedNest's minimax experiment: its runs, what is predicted of them, its sentences."""
