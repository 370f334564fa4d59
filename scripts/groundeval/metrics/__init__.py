"""Pure functions: arrays, run-lengths and boxes in, integers and floats out. Nothing here reads a file."""
