"""The one exception that means: the caller's input is wrong, and here is what to change."""


class InputError(ValueError):
    """Bad input, said in one line that names the problem and the fix.

    The command line prints it and exits with code 2; any other exception is a bug of ours.
    """
