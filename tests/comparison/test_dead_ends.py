"""What an error advises is what then works."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.core.errors import InputError

N = 60


@pytest.fixture
def said(rng):
    """Ids in no order, predictions of two models, and the second's probability of Yes."""
    ids = [f"c{i}" for i in rng.permutation(N)]
    base = rng.choice(["No", "Yes"], N)
    score = np.where(np.arange(N) % 10 == 0, 0.4, np.where(base == "Yes", 0.9, 0.1))
    return ids, base, score


def frames(ids, base, score, name="customerID"):
    """The second in the other order, its ids under another name."""
    other = np.where(score > 0.5, "Yes", "No")
    one = pl.DataFrame({"id": ids, "prediction": base})
    return one, pl.DataFrame({name: ids, "prediction": other}).reverse()


def problem(*sources, **columns):
    with pytest.raises(InputError) as error:
        compare(*sources, columns=Columns(**columns))
    return str(error.value)


def test_ids_of_another_name_are_named(said):
    base, other = frames(*said)
    found = problem(base, other)
    assert found.endswith("its 'customerID' has the same values, so give id= id=customerID")
    assert problem(base, other, id="customerID") == (
        "base: no column 'customerID', which candidate has: its 'id' has the same values, so give "
        "id= id=customerID"
    )
    labels = other.rename({"prediction": "label"})
    with pytest.raises(InputError, match="its 'customerID' has the same values"):
        compare(base, base, labels)
    assert compare(base, other, labels, columns={"id": "id=customerID"}).n == N


def test_only_what_tells_rows_apart_is_an_id(said):
    """Of 300 users, all are among 6,000 ids: the advice was to join them."""
    _, base, _ = said
    users = pl.DataFrame({"id": range(N), "user": [i % 7 for i in range(N)], "prediction": base})
    other = users.drop("user")
    found = problem(users, other, id="user")
    assert found.startswith(
        "candidate: no column 'user', which base has, where it tells no rows apart: 53 values are "
        "there more than once."
    )
    assert found.endswith("name it with cluster=")
    assert compare(users, other, cluster="user").n == N
    asked = problem(users.drop("id").rename({"user": "key"}), other.rename({"id": "nr"}))
    assert "has the same values" not in asked
    few = pl.DataFrame({"user": range(7), "prediction": base[:7]})
    assert "has the same values" not in problem(few, other, id="user")


def test_ids_that_no_column_has_are_asked_for(said):
    base, other = frames(*said)
    found = problem(base, other.drop("customerID"))
    assert "candidate has none that are called so: give it a column 'id' of the same ids" in found
    assert "or remove 'id' from base if all rows are in one order" in found
    twice = other.with_columns(again="customerID")
    assert "rename the one that has them" in problem(base, twice)
    assert problem(base, base, id="idd").startswith("base: no column 'idd' (did you mean 'id'?)")
    array = other["prediction"].to_numpy()
    assert "candidate has none: give a table with a column 'id'" in problem(base, array)


def test_columns_that_are_called_as_classes_are_offered_as_probabilities(said):
    ids, base, score = said
    labelled = pl.DataFrame({"id": ids, "prediction": base})
    probabilities = pl.DataFrame({"id": ids, "No": 1 - score, "Yes": score})
    advice = "give probabilities= No,Yes; there are id, No, Yes"
    for pair in ((labelled, probabilities), (probabilities, labelled)):
        assert advice in problem(*pair)
        assert compare(*pair, columns={"probabilities": "No,Yes"}).n == N
    truth = labelled.rename({"prediction": "label"})
    with pytest.raises(InputError, match=advice):
        compare(probabilities, probabilities, truth)
    features = probabilities.rename({"No": "a", "Yes": "b"})
    assert "Name it with prediction=" in problem(labelled, features)


def test_probabilities_that_no_file_has_or_one_has_in_part_are_refused(said):
    ids, base, score = said
    labelled = pl.DataFrame({"id": ids, "prediction": base})
    probabilities = pl.DataFrame({"id": ids, "No": 1 - score, "Yes": score})
    assert "no column 'Nein'" in problem(labelled, labelled, probabilities="Nein,Ja")
    partly = labelled.with_columns(No=pl.lit(0.5))
    assert "base: no column 'Yes'" in problem(partly, probabilities, probabilities="No,Yes")


@pytest.mark.parametrize("threshold", [None, 0.3])
def test_a_score_is_asked_for_its_class(said, threshold):
    ids, base, score = said
    labelled = pl.DataFrame({"id": ids, "prediction": base})
    scored = pl.DataFrame({"id": ids, "score": score})
    columns = {} if threshold is None else {"threshold": threshold}
    found = problem(scored, scored.with_columns(label=pl.Series(base)), **columns)
    assert found.endswith("Of which class is 'score'? Give positive= No or Yes")
    assert problem(labelled, scored).endswith("Of which class is 'score'? Give positive= No or Yes")
    assert compare(labelled, scored, columns={"positive": "Yes"}).n == N
