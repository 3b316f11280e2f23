"""The noise of retraining, and checks that the given retrainings can measure it."""
