"""Benchmarks: every claim as one command, all methods on equal footing, every run on record."""
