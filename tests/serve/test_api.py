"""The API of a real server process, over real HTTP."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import n2s
from n2s.formats.base import Source
from n2s.formats.registry import parse
from n2s.search.options import Method
from serve.servers import ROOT, SQUARE, Server

CITY = (ROOT / "examples" / "city.csv").read_bytes()
VROOM = {
    "vehicles": [{"id": 1, "start": [16.37, 48.21], "end": [16.37, 48.21]}],
    "shipments": [
        {
            "pickup": {"id": 1, "location": [16.38, 48.19]},
            "delivery": {"id": 1, "location": [16.36, 48.22]},
        },
        {
            "pickup": {"id": 2, "location": [16.40, 48.20]},
            "delivery": {"id": 2, "location": [16.35, 48.20]},
        },
    ],
}


def judged(solution: dict[str, Any], instance: n2s.Instance) -> None:
    """The answer is what our own judge says of its route."""
    verdict = n2s.evaluate(instance, solution["route"])
    assert verdict.feasible
    assert solution["feasible"] is True
    assert solution["cost"] == pytest.approx(verdict.cost)


def read(body: object) -> n2s.Instance:
    (instance,) = parse(Source("body.json", json.dumps(body).encode()))
    return instance


def test_health_and_about_tell_limits_and_workers(server: Server) -> None:
    health = server.get("/health")
    assert health.status == 200
    assert health.json["status"] == "ok"
    assert (health.json["workers"], health.json["ready"]) == (1, 1)
    about = server.get("/v1/about").json
    assert (about["max_seconds"], about["max_nodes"]) == (20, 2000)
    assert about["version"] == n2s.__version__
    assert about["methods"] == [m for m in Method if m is not Method.NATIVE_N2S]


def test_a_method_that_needs_files_is_not_offered(server: Server) -> None:
    body = {"instance": SQUARE, "seconds": 0.1, "method": "native+n2s"}
    answer = server.post("/v1/solve", body)
    assert answer.status == 422, answer.body
    assert answer.error == "the method native+n2s is not offered here"
    assert server.post("/v1/solve?method=native%2Bn2s", SQUARE).status == 422


@pytest.mark.parametrize("variant", ["pdtsp", "lifo"])
def test_solving_our_json_with_options_beside_it(server: Server, variant: str) -> None:
    body = {"instance": SQUARE, "variant": variant, "seconds": 0.1, "seed": 3}
    answer = server.post("/v1/solve", body)
    assert answer.status == 200, answer.body
    judged(answer.json, read({**SQUARE, "variant": variant}))
    assert answer.json["variant"] == variant
    assert answer.json["record"]["seed"] == 3
    assert answer.json["record"]["seconds"] < 1
    assert "solve;dur=" in answer.headers["server-timing"]


def test_the_same_steps_and_seed_give_the_same_route(server: Server) -> None:
    path = "/v1/solve?steps=500&seed=5&seconds=10"
    first, second = server.post(path, SQUARE).json, server.post(path, SQUARE).json
    assert first["route"] == second["route"]
    assert first["record"]["stopped"] == "steps"


def test_a_file_as_it_is_is_a_body_too(server: Server) -> None:
    answer = server.post("/v1/solve?variant=lifo&seconds=0.2&name=city.csv", CITY)
    assert answer.status == 200, answer.body
    assert answer.json["instance"] == "city"
    (instance,) = parse(Source("city.csv", CITY))
    assert set(answer.json["route"]) == set(map(str, instance.ids))


def test_an_initial_route_is_never_made_worse(server: Server) -> None:
    route = ["depot", "a:pickup", "a:delivery", "b:pickup", "b:delivery", "depot"]
    body = {"instance": SQUARE, "initial": route, "steps": 0}
    answer = server.post("/v1/solve", body)
    assert answer.json["cost"] <= n2s.evaluate(read(SQUARE), route).cost + 1e-9
    body["initial"] = ["a:delivery", "a:pickup", "b:pickup", "b:delivery"]
    refused = server.post("/v1/solve", body)
    assert refused.status == 422
    assert "initial route is infeasible" in refused.error


def test_the_paper_s_method_runs_as_well(server: Server) -> None:
    body = {"instance": SQUARE, "method": "n2s", "steps": 5, "checkpoint": "epsilon-greedy"}
    answer = server.post("/v1/solve", body)
    assert answer.status == 200, answer.body
    assert answer.json["record"]["method"] == "n2s"


# --- VROOM's body ---------------------------------------------------------------------------------


def test_vroom_s_body_is_solved_as_it_is(server: Server) -> None:
    answer = server.post("/v1/solve?seconds=0.1", VROOM)
    assert answer.status == 200, answer.body
    judged(answer.json, read(VROOM))
    assert set(answer.json["route"]) == {
        "depot", "1:pickup", "1:delivery", "2:pickup", "2:delivery",
    }  # fmt: skip


def test_vroom_s_matrices_are_the_costs(server: Server) -> None:
    places = {"pickup": 1, "delivery": 2}
    body = {
        "vehicles": [{"id": 1, "start_index": 0, "end_index": 0}],
        "shipments": [{kind: {"id": 1, "location_index": index} for kind, index in places.items()}],
        "matrices": {"car": {"durations": [[0, 5, 9], [7, 0, 11], [13, 2, 0]]}},
    }
    answer = server.post("/v1/solve?steps=10", body)
    assert answer.json["cost"] == 5 + 11 + 13


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"vehicles": [{"id": 1}, {"id": 2}]}, "vehicles"),
        ({"jobs": [{"id": 7, "location": [16.3, 48.2]}]}, "jobs"),
        ({"options": {"g": True}}, "options"),
        ({"vehicles": [{"id": 1, "start": [16.3, 48.2], "skills": [1]}]}, "vehicles[0].skills"),
        (
            {"vehicles": [{"id": 1, "start": [16.3, 48.2], "time_window": [0, 9]}]},
            "vehicles[0].time_window",
        ),
        ({"vehicles": [{"id": 1, "start": [16.3, 48.2], "capacity": [0]}]}, "capacity"),
    ],
)
def test_what_vroom_says_and_we_cannot_do_is_refused_by_name(
    server: Server, change: dict[str, Any], word: str
) -> None:
    body = {**VROOM, **change}
    if word == "capacity":
        body["shipments"] = [{**shipment, "amount": [1]} for shipment in VROOM["shipments"]]  # type: ignore[dict-item]
    answer = server.post("/v1/solve?seconds=0.1", body)
    assert answer.status == 422
    assert word in answer.error


# --- jobs -------------------------------------------------------------------------------------------


def events(server: Server, path: str, stop: int | None = None) -> list[tuple[str, Any]]:
    """The events of a stream, all or the first few."""
    connection = server.connection()
    connection.request("GET", path)
    response = connection.getresponse()
    assert response.status == 200
    assert response.getheader("content-type", "").startswith("text/event-stream")
    found: list[tuple[str, Any]] = []
    name = ""
    while stop is None or len(found) < stop:
        line = response.readline().decode()
        if not line:
            break
        if line.startswith("event: "):
            name = line[7:].strip()
        elif line.startswith("data: "):
            found.append((name, json.loads(line[6:])))
    connection.close()
    return found


def example(server: Server, requests: int) -> dict[str, Any]:
    found = server.get(f"/v1/example?requests={requests}&seed=4").json
    assert isinstance(found, dict)
    return found


def test_a_job_is_begun_watched_and_fetched(server: Server) -> None:
    instance = example(server, 60)
    begun = server.post("/v1/jobs?seconds=1", instance)
    assert begun.status == 202
    place = begun.headers["location"]
    assert place == f"/v1/jobs/{begun.json['id']}"
    told = events(server, f"{place}/events")
    names = [name for name, _ in told]
    assert names[0] == "state"
    assert names[-1] == "end"
    better = [data for name, data in told if name == "improvement"]
    assert len(better) > 1
    costs = [data["best"] for data in better]
    assert costs == sorted(costs, reverse=True)
    known = read(instance)
    for data in better:
        assert set(data) == {"step", "seconds", "best", "route"}
        if data["route"] is not None:
            assert n2s.evaluate(known, data["route"]).cost == pytest.approx(data["best"])
    job = server.get(place).json
    assert (job["state"], job["error"]) == ("done", None)
    assert job == told[-1][1]
    judged(job["solution"], known)
    assert job["solution"]["cost"] <= costs[-1]
    late = events(server, f"{place}/events")  # who comes late hears it all
    assert [d["best"] for n, d in late if n == "improvement"] == costs
    assert server.ask("DELETE", place).status == 200
    assert server.get(place).status == 404


def test_deleting_a_running_job_keeps_its_best_and_a_waiting_one_never_begins(
    server: Server,
) -> None:
    running = server.post("/v1/jobs?seconds=15", SQUARE).headers["location"]
    waiting = server.post("/v1/jobs?seconds=15", SQUARE).headers["location"]
    server.wait(running, lambda job: job["state"] == "running")
    assert server.get(waiting).json["before"] == 0
    ended = server.ask("DELETE", waiting).json
    assert (ended["state"], ended["solution"]) == ("cancelled", None)
    assert ended["error"] == "cancelled before it began"
    ended = server.ask("DELETE", running).json
    assert ended["state"] == "cancelled"
    assert ended["solution"]["record"]["stopped"] == "interrupted"
    judged(ended["solution"], read(SQUARE))


def test_no_job_is_a_sentence(server: Server) -> None:
    for path in ("/v1/jobs/nothing", "/v1/jobs/nothing/events"):
        answer = server.get(path)
        assert answer.status == 404
        assert "no such job" in answer.error


# --- judging, reading, writing -----------------------------------------------------------------------


def test_a_route_is_judged(server: Server) -> None:
    good = ["depot", "a:pickup", "a:delivery", "b:pickup", "b:delivery", "depot"]
    answer = server.post("/v1/evaluate", {"instance": SQUARE, "route": good}).json
    assert answer["feasible"] is True
    assert answer["cost"] == pytest.approx(1 + 1 + 1 + 2 + math.sqrt(5))
    bad = ["a:delivery", "a:pickup", "b:pickup"]
    answer = server.post("/v1/evaluate", {"instance": SQUARE, "route": bad}).json
    assert answer["feasible"] is False
    assert len(answer["violations"]) == 2
    unknown = server.post("/v1/evaluate", {"instance": SQUARE, "route": ["nowhere"]})
    assert unknown.status == 422
    assert "'nowhere'" in unknown.error


@pytest.mark.parametrize(
    ("to", "kind", "start"),
    [
        ("csv", "text/csv", b"position,"),
        ("geojson", "application/geo+json", b"{"),
        ("html", "text/html", b"<!DOCTYPE html>"),
        ("tour", "text/plain", b"NAME"),
    ],
)
def test_a_judged_route_comes_in_other_formats(
    server: Server, to: str, kind: str, start: bytes
) -> None:
    route = ["a:pickup", "a:delivery", "b:pickup", "b:delivery"]
    record = {"history": [[0, 0.0, 9.0], [5, 0.1, 8.0]]}
    body = {"instance": SQUARE, "route": route, "record": record}
    answer = server.post(f"/v1/evaluate?to={to}", body)
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith(kind)
    assert answer.body.startswith(start)
    assert f"square.{to}" in answer.headers["content-disposition"]


def test_validating_says_what_is_there_or_what_is_wrong(server: Server) -> None:
    found = server.post("/v1/validate?name=city.csv", CITY).json
    assert (found["valid"], found["distances"]) == (True, "great_circle")
    broken = CITY.replace(b"48.1865", b"north")
    found = server.post("/v1/validate?name=city.csv", broken)
    assert found.status == 200
    assert found.json["valid"] is False
    assert "city.csv:3" in found.json["error"]


def test_converting_between_formats(server: Server, tmp_path: Path) -> None:
    as_json = server.post("/v1/convert?name=city.csv", CITY)
    assert as_json.json["metric"] == "great_circle"
    back = server.post("/v1/convert?to=csv", as_json.body)
    (tmp_path / "back.csv").write_bytes(back.body)
    (original,) = parse(Source("city.csv", CITY))
    again = n2s.read(tmp_path / "back.csv")
    assert again.ids == original.ids
    assert np.array_equal(again.costs, original.costs)
    packed = server.post("/v1/convert?to=npz", as_json.body)
    assert "coordinates" in np.load(io.BytesIO(packed.body))
    refused = server.post("/v1/convert?to=docx", as_json.body)
    assert refused.status == 422
    assert "'docx'" in refused.error


def test_files_that_belong_together_come_together(server: Server) -> None:
    tsp = (
        "NAME: x\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        "1 0 0\n2 3 4\n3 6 8\nEOF\n"
    )
    files = [{"name": "x.mtc", "text": "0 3 0\n1 1 2\n2 0 1\n"}, {"name": "x.tsp", "text": tsp}]
    answer = server.post("/v1/convert", {"files": files})
    assert answer.status == 200, answer.body
    assert answer.json["variant"] == "lifo"
    alone = server.post("/v1/convert?name=x.mtc", files[0]["text"].encode())
    assert "x.tsp beside it" in alone.error


def test_examples_are_reproducible(server: Server) -> None:
    path = "/v1/example?requests=5&seed=2&variant=lifo&distribution=clustered"
    assert server.get(path).body == server.get(path).body
    assert len(server.get(path).json["requests"]) == 5
    many = server.get("/v1/example?requests=1000")
    assert many.status == 422
    assert "2001 nodes" in many.error


def test_models_are_listed(server: Server) -> None:
    names = [model["name"] for model in server.get("/v1/models").json]
    assert {"epsilon-greedy", "random"} <= set(names)


def test_metrics_count(server: Server) -> None:
    server.get("/health")
    answer = server.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(values['n2s_http_requests_total{method="GET",path="/health",status="200"}']) >= 1
    assert float(values["n2s_workers"]) == 1
    assert all(math.isfinite(float(value)) for value in values.values())
    described = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {name.partition("{")[0] for name in values} <= {
        f"{name}{end}" for name in described for end in ("", "_bucket", "_sum", "_count")
    }
