"""The statements of the FedNest slides (2022)."""
