"""Ground that every room stands on: errors, checked arrays, files, progress, executors."""
