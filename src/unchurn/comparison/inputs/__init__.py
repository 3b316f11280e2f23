"""Read files, frames and arrays of predictions, and pair those of two models."""
