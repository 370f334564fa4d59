"""The commands of the command line, one function each, which imports its stage only when it runs."""
