"""Churn between two retrainings on digits, and the digits whose labels are doubtful.

Trains one scikit-learn network twice, changing nothing but the seed; counts the predictions that
flip; then asks of every training digit what its nearest neighbours are labelled.
"""

import warnings
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from rich.console import Console
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

import unchurn

OUT = Path("demo")
K = 10  # neighbours
SHOWN = 7  # digits in a row of the picture


def main() -> None:
    """Train twice, compare, explain, draw."""
    console = Console(highlight=False, soft_wrap=True)
    data = unchurn.load("digits")
    console.print(f"{data}\n")

    console.print("[bold]1. Retrain the same network: only the random seed differs[/bold]")
    first, second = train(data, seed=0), train(data, seed=1)
    before, after = (model.predict(flat(data.x_test)) for model in (first, second))
    moved = unchurn.flips(before, after, data.y_test)
    flipped = np.flatnonzero(before != after)
    console.print(
        f"accuracy    {moved.accuracy_first:.2%}, then {moved.accuracy_second:.2%}\n"
        f"churn       {moved.churn:6.2%}: {len(flipped)} of {moved.n} predictions differ\n"
        f"bad flips   {moved.rates['bad_flips']:6.2%}: right → wrong\n"
        f"good flips  {moved.rates['good_flips']:6.2%}: wrong → right\n"
        f"other flips {moved.rates['wrong_to_wrong']:6.2%}: wrong → another wrong\n"
    )

    console.print(f"[bold]2. Ask each training digit's {K} nearest neighbours[/bold]")
    # Log-probabilities are logits up to a constant per row: all that scikit-learn gives us.
    logits = np.log(first.predict_proba(flat(data.x_train)).clip(1e-12))
    knn = unchurn.knn_labels(logits, data.y_train, K)
    console.print(str(unchurn.off_label_mass(knn, data.y_train)))
    agreement = knn[np.arange(len(knn)), data.y_train]
    doubtful = np.argsort(agreement, kind="stable")[:SHOWN]
    for row in doubtful:
        top = np.argsort(-knn[row], kind="stable")[:3]
        shares = ", ".join(f"{knn[row, c]:.0%} say {c}" for c in top if knn[row, c] > 0)
        console.print(f"digit {row:4d}, labelled {data.y_train[row]}: of its neighbours {shares}")

    churned = [
        digit(data.x_test[i], f"{before[i]} → {after[i]}", f"is a {data.y_test[i]}")
        for i in flipped[:SHOWN]
    ]
    softened = [
        digit(data.x_train[i], f"labelled {data.y_train[i]}") & bars(knn[i], data.y_train[i])
        for i in doubtful
    ]
    picture = alt.vconcat(
        alt.hconcat(*churned, title=title(
            f"Retrained: {moved.accuracy_first:.1%} accurate, then {moved.accuracy_second:.1%}, "
            f"yet {moved.churn:.1%} of the predictions flip",
            "test digits: what the first model says → what the second says",
        )),
        alt.hconcat(*softened, title=title(
            "k-NN labels soften what the neighbours dispute",
            f"training digits, and how their {K} nearest neighbours are labelled",
        )),
        spacing=28,
        padding=16,
    ).configure_view(stroke=None)  # fmt: skip
    OUT.mkdir(exist_ok=True)
    for name in ("doubtful_digits.svg", "doubtful_digits.png"):
        picture.save(OUT / name, scale_factor=2)
    console.print(f"\nThe same as a picture: {OUT}/doubtful_digits.png and .svg")


def train(data: unchurn.Dataset, seed: int) -> MLPClassifier:
    """Train one network; the seed decides initial weights and batch order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 100 epochs are what we want
        return MLPClassifier((32,), max_iter=100, random_state=seed).fit(
            flat(data.x_train), data.y_train
        )


def flat(images: np.ndarray) -> np.ndarray:
    """Images as rows of pixels."""
    return images.reshape(len(images), -1)


def title(text: str, subtitle: str) -> alt.TitleParams:
    """Heading of a row."""
    return alt.TitleParams(text, subtitle=subtitle, anchor="start", fontSize=15, offset=12)


def digit(image: np.ndarray, heading: str, subtitle: str = "") -> alt.Chart:
    """One digit as a grid of grey squares."""
    pixels = [
        {"x": int(x), "y": int(y), "ink": float(ink)} for (y, x), ink in np.ndenumerate(image)
    ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=pixels))
        .mark_rect()
        .encode(
            alt.X("x:O", axis=None),
            alt.Y("y:O", axis=None),
            alt.Color("ink:Q", scale=alt.Scale(scheme="greys"), legend=None),
        )
        .properties(
            width=88, height=88, title=alt.TitleParams(heading, subtitle=subtitle, fontSize=12)
        )
    )
    return chart


def bars(shares: np.ndarray, label: Any) -> alt.Chart:
    """A k-NN label: the share of neighbours of each class, the digit's own label in blue."""
    values = [
        {"class": c, "share": float(share), "own": bool(c == label)}
        for c, share in enumerate(shares)
    ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            alt.X("class:O", title=None, axis=alt.Axis(labelAngle=0, ticks=False, domain=False)),
            alt.Y("share:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
            alt.Color(
                "own:N",
                scale=alt.Scale(domain=[True, False], range=["#4c78a8", "#e45756"]),
                legend=None,
            ),
        )
        .properties(width=88, height=52)
    )
    return chart


if __name__ == "__main__":
    main()
