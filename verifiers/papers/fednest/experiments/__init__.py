"""The figures of the FedNest slides."""
