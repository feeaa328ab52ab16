"""The figures of the Local-SCGDM paper."""
