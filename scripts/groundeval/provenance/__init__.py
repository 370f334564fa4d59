"""Provenance: which bytes made a run's numbers, as an in-toto Statement that stands beside them.

inputs.py       the files that went in: one by one, and as one root
environment.py  the scorer's source files, Python, libraries, the lock
tree.py         the commit, and whether the working tree was that commit
statement.py    the Statement: made, read and checked
dsse.py         signatures
Nothing here knows a clock, a host or an absolute path: the same run gives the same bytes in every clone of a commit.
"""
