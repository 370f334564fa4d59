"""Results as people read them: in the terminal, as csv, Markdown and LaTeX, as pages that open from disk.

collect.py reads runs, evidence.py the counts that stand beside them; assemble.py puts runs on boards (board.py), with ranks
that know of ties (ties.py), baselines and published rows (published.py). text.py shows numbers and makes foreign text
harmless; leaderboard.py (terminal), export.py (csv, Markdown), tex.py, plots/ and site.py (the pages, page.py renders one)
each write one kind of output from the same boards.
"""
