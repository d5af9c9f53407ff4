"""Searching: state, symmetries, stop rules, the step loop, ``solve`` and its result."""
