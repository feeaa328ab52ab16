"""The same round written with other libraries: each file is one way, each function a workload."""
