"""Stores of several replicas in one Redis: inbox, roll, votes, threads, counters.

Every key begins with one prefix in braces, so that a cluster keeps all of a bot together.
"""
