"""Inspection: what a user's files are, and which declared formats they could be. It advises; nothing is scored with it.

groups.py     which files belong to one sample
part.py       a small part of a source, whole samples, so that looking costs little whatever its size
contents.py   kinds of files, counts
pictures.py   sizes, depths, values and colours of images and arrays
records.py    keys, ids, boxes, scores and texts of JSON
madeup.py     the samples that formats are tried on
hints.py      values to try for options that are no choice
trials.py     one format with one choice of its options, tried by really reading
search.py     which options are tried
likely.py     what speaks against a reading that is possible
rank.py       the order of what fits, and what the files do not tell apart
choices.py    what only the user knows
advice.py     what fits, what does not and why, the command to try
overlay.py    a picture of three samples, to see with one's own eyes
"""
