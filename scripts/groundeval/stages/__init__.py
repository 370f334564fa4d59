"""The stages, one module each: plain paths in, files out. `run` is the stage; the functions beside it work in memory."""
