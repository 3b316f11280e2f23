"""`python -m unchurn`: the command line."""

from unchurn.cli import main

main()
