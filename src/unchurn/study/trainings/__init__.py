"""Trainings carried out and kept: each is done once."""
