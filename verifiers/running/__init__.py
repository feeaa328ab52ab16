"""Running: jobs ask for units of work, and a scheduler does them on a pool of processes."""
