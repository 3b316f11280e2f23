"""The noise of retraining, and whether retrainings can tell it."""
