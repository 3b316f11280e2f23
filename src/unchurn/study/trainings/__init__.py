"""Carry out the trainings of a study, and store each so that it is done once."""
