"""Where runs execute: an engine calls a function on many arguments and yields what comes back."""
