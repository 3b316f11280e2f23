"""What callers bring (files, frames, arrays) as two models' predictions side by side."""
