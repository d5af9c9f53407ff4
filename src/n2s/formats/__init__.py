"""File formats: one module each, found by suffix and content."""

from n2s.formats.registry import read, read_many, read_route, write, write_route

__all__ = ["read", "read_many", "read_route", "write", "write_route"]
