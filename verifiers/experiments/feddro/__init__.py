"""The figures of FedDRO (2023)."""
