"""All that is attacked: every reader and command, each with files that it takes."""

from fuzzing.base import Target
from fuzzing.comparisons import compare_targets, encoding_target
from fuzzing.datasets import dataset_targets
from fuzzing.studies import model_targets, study_targets
from fuzzing.tables import bench_targets, smooth_targets


def all_targets() -> list[Target]:
    """Every reader and command."""
    makers = (
        compare_targets, smooth_targets, bench_targets, dataset_targets, study_targets,
        model_targets,
    )  # fmt: skip
    return [target for maker in makers for target in maker()] + [encoding_target()]
