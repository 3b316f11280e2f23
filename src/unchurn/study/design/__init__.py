"""What a study tries: settings, data parts, and the schedule of its trainings."""
