"""The HTTP service and its page.

One process speaks HTTP and never looks inside what a client sent: reading, judging and searching all
happen in child processes, which can be stopped, killed and replaced without it.
"""
