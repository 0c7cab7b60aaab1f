"""A sweep on a cluster of Dask, by the executor of its client."""

from __future__ import annotations

from pathlib import Path

from dask.distributed import Client, LocalCluster
from test_ray import jobs, schedules

import bubbleproof as bp


def test_the_executor_of_a_dask_client_plans_like_one_process(tmp_path: Path) -> None:
    wanted, store = jobs(40), tmp_path / "results.sqlite"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        found = bp.sweep(wanted, executor=client.get_executor(), store=store)
        again = bp.sweep(wanted, executor=client.get_executor(), store=store)
    assert schedules(found) == schedules(again) == schedules([bp.plan(job, threads=1) for job in wanted])
    assert sum(answer.from_store[1] for answer in again) == 0
