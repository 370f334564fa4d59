"""Verify: what can be said of results without trusting whoever made them. Offline; nothing is written.

check.py         a verdict: what failed, what could not be checked
runs.py          the runs below a folder, and the tree that they belong to
structure.py     level 0: everything that should be there is, and nothing else
content.py       level 1: every digest
commit.py        level 1: whether the code was the commit's
compare.py       the first difference between two files, for a reason that can be acted upon
objects.py       DVC's stores: each object is what its name says
signature.py     whether the results are those that were signed
independent/     a slow second scorer that shares no code with metrics/
Levels 2 to 5 run stages again (stages/recompute.py).
"""
