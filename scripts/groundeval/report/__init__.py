"""Results as people read them: in the terminal, as csv and Markdown, as one page that opens from disk.

collect.py reads runs; assemble.py puts them on boards (board.py) with baselines and published rows (published.py);
text.py shows numbers and makes foreign text harmless; leaderboard.py (terminal), export.py (csv, Markdown) and page.py
each write one kind of output from the same boards.
"""
