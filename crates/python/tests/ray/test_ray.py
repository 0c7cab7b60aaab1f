"""A sweep on a cluster of Ray whose nodes come and go: a thousand jobs, the same answers, nothing computed twice."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

import bubbleproof as bp

LOOPBACK = "127.0.0.2"
"""Where all nodes listen: Ray replaces 127.0.0.1 by an address that others reach."""

JOBS = 1000
AT_FIRST = 200
"""How many pieces are finished before the nodes change."""


def jobs(count: int, layers: int = 2, batch: int = 2, placement: str = "linear") -> list[bp.Job]:
    """Jobs that are all different, and small unless more is asked for."""

    def one(number: int) -> bp.Job:
        block = {
            "forward": f"{3 + number % 7}.{number:03} ms",
            "backward_input": "3 ms",
            "backward_weight": "2 ms",
            "activation": "1 GiB",
        }
        return bp.Job(
            name=f"job {number}",
            layers=[f"{layers + number % 3} block"],
            layer={"block": block},
            machine={"devices": 2, "latency": "0.1 ms"},
            choices={"global_batch": batch, "pipeline": [2], "placement": [placement]},
        )

    return [one(number) for number in range(count)]


def schedules(answers: list[bp.Plan | bp.InfeasibleError]) -> list[str]:
    assert all(isinstance(answer, bp.Plan) for answer in answers)
    return [answer.schedule.to_json() for answer in answers]


def kept(store: Path) -> int:
    """How many results a store has."""
    connection = sqlite3.connect(store)
    try:
        (table,) = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        return connection.execute(f"select count(*) from {table}").fetchone()[0]
    finally:
        connection.close()


@pytest.fixture
def cluster():
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "node_ip_address": LOOPBACK})
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def test_nodes_come_and_go_and_nothing_is_lost_or_computed_twice(cluster: Cluster, tmp_path: Path) -> None:
    wanted = jobs(JOBS)
    begun = time.monotonic()
    expected = schedules([bp.plan(job, threads=1) for job in wanted])
    alone = time.monotonic() - begun

    leaving = cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
    cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
    cluster.wait_for_nodes()
    ray.init(cluster.address, _node_ip_address=LOOPBACK, include_dashboard=False, log_to_driver=False)
    print(f"\n{JOBS} jobs in one process: {alone:.1f} s")
    print(f"cluster: {int(ray.cluster_resources()['CPU'])} nodes with a CPU each")

    store = tmp_path / "results.sqlite"
    finished: list[int] = []

    def change_nodes(progress: bp.SweepProgress) -> None:
        finished.append(progress.finished)
        if progress.finished == AT_FIRST:
            cluster.remove_node(leaving, allow_graceful=False)
            print(f"{progress.finished} finished: a node is killed")
            cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
            print(f"{progress.finished} finished: another node has joined")

    begun = time.monotonic()
    answers = bp.sweep(wanted, executor="ray", store=store, progress=change_nodes)
    on_ray = time.monotonic() - begun
    print(f"{len(answers)} plans on Ray: {on_ray:.1f} s, {alone / on_ray:.2f} times as fast as one process")
    assert finished == list(range(1, JOBS + 1)), "every piece is finished once"
    assert schedules(answers) == expected, "the answers are those of one process"

    entries = kept(store)
    begun = time.monotonic()
    resumed: list[bp.SweepProgress] = []
    again = bp.sweep(wanted, executor="ray", store=store, progress=resumed.append)
    computed = sum(answer.from_store[1] for answer in again)
    print(
        f"again, from the store: {time.monotonic() - begun:.1f} s, {computed} results computed, {entries} in the store"
    )
    assert computed == 0 and resumed == [] and kept(store) == entries
    assert schedules(again) == expected


def test_jobs_that_take_longer_are_planned_alike_on_two_nodes(cluster: Cluster) -> None:
    """How much faster two nodes are is printed: that depends on what else the machine does."""
    wanted = jobs(24, layers=6, batch=8, placement="v")
    begun = time.monotonic()
    expected = schedules([bp.plan(job, threads=1) for job in wanted])
    alone = time.monotonic() - begun

    for _ in range(2):
        cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
    cluster.wait_for_nodes()
    ray.init(cluster.address, _node_ip_address=LOOPBACK, include_dashboard=False, log_to_driver=False)
    # The workers of both nodes have begun before the clock does.
    bp.sweep(jobs(64), executor="ray")
    begun = time.monotonic()
    answers = bp.sweep(wanted, executor="ray")
    on_ray = time.monotonic() - begun
    print(
        f"\n{len(wanted)} jobs of {alone / len(wanted):.2f} s: {alone:.1f} s in one process, {on_ray:.1f} s on two nodes "
        f"with a CPU each, {alone / on_ray:.2f} times as fast"
    )
    assert schedules(answers) == expected


def test_nodes_know_what_the_store_had(cluster: Cluster, tmp_path: Path) -> None:
    store = tmp_path / "results.sqlite"
    wanted = jobs(40)
    for job in wanted[::2]:
        bp.plan(job, threads=1, store=store)
    before = kept(store)
    cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK)
    cluster.wait_for_nodes()
    ray.init(cluster.address, _node_ip_address=LOOPBACK, include_dashboard=False, log_to_driver=False)
    answers = bp.sweep(wanted, executor="ray", store=store)
    computed = [answer.from_store[1] for answer in answers if isinstance(answer, bp.Plan)]
    assert all(count == 0 for count in computed[::2]) and all(count > 0 for count in computed[1::2])
    assert kept(store) == before + sum(computed)


def test_the_choices_of_one_job_are_divided_among_the_nodes(cluster: Cluster, tmp_path: Path) -> None:
    cluster.add_node(num_cpus=2, node_ip_address=LOOPBACK)
    cluster.wait_for_nodes()
    ray.init(cluster.address, _node_ip_address=LOOPBACK, include_dashboard=False, log_to_driver=False)
    job = bp.Job.from_toml(jobs(1)[0].to_toml().replace("devices = 2", "devices = 4").replace("[2]", "[2, 4]"))
    first, second = (
        bp.sweep([job], executor="ray", shards=2, store=tmp_path / "results.sqlite", progress=print)[0]
        for _ in range(2)
    )
    expected = bp.plan(job, threads=1).schedule.to_json()
    assert first.schedule.to_json() == second.schedule.to_json() == expected
    assert second.from_store[1] == 0 < second.from_store[0]
