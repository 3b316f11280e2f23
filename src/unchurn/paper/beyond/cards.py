"""What each method of the study is: what it does, what it costs and when it fails."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """A method's line in the table of methods."""

    does: str
    cost: str  # networks trained / served
    fails: str


CARDS = {
    "safe_ema": Card(
        "serves a moving average of the weights unless its training loss is more than a tenth "
        "above theirs",
        "1 / 1",
        "does nothing where training still makes much way",
    ),
    "auto_ema": Card(
        "serves a moving average of the weights where one without lag fits better than the last "
        "weights",
        "1 / 1",
        "does nothing more often than `safe_ema`",
    ),
    "ema": Card(
        "serves a moving average of the weights",
        "1 / 1",
        "lags behind, and can cost accuracy, where training still makes much way",
    ),
    "swa": Card(
        "serves the mean of the weights in the last part of training",
        "1 / 1",
        "as `ema`; a long part averages in what was not yet learnt",
    ),
    "decay": Card(
        "lowers the learning rate along a cosine to zero",
        "1 / 1",
        "costs accuracy on some tables, most where training is short",
    ),
    "early": Card(
        "holds rows out and serves the epoch of lowest loss on them",
        "1 / 1",
        "the held-out rows are missed, and choosing by few of them adds churn",
    ),
    "weight_decay": Card("AdamW", "1 / 1", "does next to nothing where training is short"),
    "smelu": Card(
        "a smooth activation in the place of ReLU; a step takes a little longer",
        "1 / 1",
        "learns more slowly: at an equal number of steps it costs accuracy",
    ),
    "label_smoothing": Card(
        "moves labels towards all classes",
        "1 / 1",
        "heavy smoothing costs accuracy and adds churn on tables, small and large",
    ),
    "mixup": Card(
        "trains on mixtures of two examples",
        "1 / 1",
        "costs accuracy on some tables",
    ),
    "knn_ls": Card(
        "the paper's method: labels move towards those of neighbours",
        "2 / 1",
        "as `label_smoothing`",
    ),
    "codistill_symmetric": Card(
        "two networks drawn towards each other",
        "2 / 1",
        "alone it does little on tables; a strong pull costs accuracy on some",
    ),
    "distill": Card(
        "trains on the mean answer of m plain fits; any learner can",
        "m + 1 / 1",
        "teachers that know their labels by heart have little to teach",
    ),
    "elodi": Card(
        "draws logits to the mean logits of m plain fits",
        "m + 1 / 1",
        "on tables the logits outweigh the labels, and accuracy goes",
    ),
    "medoid": Card(
        "of m fits, serves the most typical; any learner can",
        "m / 1",
        "the held-out rows are missed",
    ),
    "twin": Card(
        "two networks on two bootstraps that must agree",
        "2 / 2",
        "on half of the tables it costs accuracy or adds churn, even where the pull is weak",
    ),
    "bagging": Card(
        "m fits on bootstraps, averaged; any learner can",
        "m / m",
        "each sees fewer distinct rows, which small tables miss",
    ),
    "ensemble": Card(
        "m fits, averaged; any learner can", "m / m", "the steadiest, at m times the cost"
    ),
}
