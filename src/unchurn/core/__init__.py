"""The ground of all layers: errors, checked arrays, files, progress, executors."""
