import numpy as np
import polars as pl
import pytest
import torch

from unchurn.core.arrays import as_array, as_classes, as_labels
from unchurn.core.errors import InputError


def test_cpu_tensor_is_viewed_not_copied():
    tensor = torch.arange(6.0).reshape(2, 3)
    assert np.shares_memory(as_array(tensor, "logits"), tensor.numpy())


def test_tensor_with_gradient_is_viewed():
    tensor = torch.ones(3, requires_grad=True)
    assert as_array(tensor, "logits").tolist() == [1, 1, 1]


def test_tensor_elsewhere_or_without_a_numpy_type_says_what_to_do():
    with pytest.raises(InputError, match=r"logits is a tensor on meta: pass logits\.cpu\(\)"):
        as_array(torch.empty(2, device="meta"), "logits")
    with pytest.raises(InputError, match=r"bfloat16: pass logits\.float\(\)"):
        as_array(torch.ones(2, dtype=torch.bfloat16), "logits")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2, 0], [2, 0]),
        ([True, False], [1, 0]),
        (["b", "a"], ["b", "a"]),
        (np.array(["b", "a"], object), ["b", "a"]),
        (np.array([3, 4], object), [3, 4]),
        (np.array(["b", "a"], np.dtypes.StringDType()), ["b", "a"]),
        (pl.Series(["b", "a"]), ["b", "a"]),
        (torch.tensor([1, 2]), [1, 2]),
    ],
)
def test_labels_are_integers_or_strings(values, expected):
    assert as_labels(values, "labels").tolist() == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "labels is empty"),
        ([[1, 2]], "one dimension"),
        ([0.5, 0.5], "take the argmax"),
        (np.array(["a", None]), "row 1 is None"),
        (np.array([None, "a"]), "row 0 is None"),
        (np.array(["a", 1], object), "row 1 is 1"),
        (np.array([float("nan"), "a"], object), "row 0 is nan"),
        (["a", float("nan")], "row 1 is nan"),
        (("a", np.float32("nan")), "row 1 is .*nan"),
        (np.array([0.5, 0.2], object), "row 0 is 0.5"),
        (np.array([2**70, 1], object), "beyond 64 bits"),
        (np.array([b"b"]), r"integers or strings, not \|S1"),
        (np.array(["2020-01-01"], "M8[D]"), "integers or strings, not datetime64"),
    ],
)
def test_other_labels_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        as_labels(values, "labels")


@pytest.mark.parametrize(
    ("labels", "n_classes", "message"),
    [
        ([0, 3], 3, "label 3 at row 1 must be in 0 … 2"),
        ([0, -1], None, "label -1 at row 1 must be 0 or more"),
        (["a", "b"], 2, "numpy.unique"),
        ([0], 0, "n_classes must be at least 1"),
        ([0, 1, 1], 2, "3 labels for 2 rows"),
    ],
)
def test_class_numbers_are_checked(labels, n_classes, message):
    with pytest.raises(InputError, match=message):
        as_classes(labels, n_classes, n=2 if message.endswith("rows") else None)
