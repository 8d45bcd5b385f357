"""The claims about speed and memory, measured: ``python -m benchmarks``."""
