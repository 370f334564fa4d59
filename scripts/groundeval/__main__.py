"""`python -m groundeval`."""

from groundeval.cli import main

main()
