"""The plan of a study: settings, data parts, and the schedule of its trainings."""
