"""Shared by the tests of studies."""

import pytest

from unchurn.study.trainings import run as module


@pytest.fixture
def trainings(monkeypatch):
    """Count the trainings."""
    made = []
    original = module.train_jobs

    def spy(jobs, *rest):
        made.append(tuple((repr(job.method), job.run, job.fit) for job, _ in jobs))
        return original(jobs, *rest)

    monkeypatch.setattr(module, "train_jobs", spy)
    return made
