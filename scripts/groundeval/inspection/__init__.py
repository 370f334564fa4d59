"""Inspection: what a user's files are, and which declared formats they could be. It advises; nothing is scored with it.

part.py       a small part of a source, so that looking costs little whatever its size
contents.py   kinds of files, counts
pictures.py   sizes, depths and values of images and arrays
records.py    keys, ids, boxes, scores and texts of JSON
trials.py     every format and option, tried by really reading
advice.py     what fits, what does not and why, the command to try
overlay.py    a picture of three samples, to see with one's own eyes
"""
