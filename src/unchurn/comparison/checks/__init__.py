"""What may be wrong with the files that are compared: cautions and doubts."""
