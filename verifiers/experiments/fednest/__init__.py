"""The figures of the FedNest slides (002)."""
