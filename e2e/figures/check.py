"""Recomputes the figures of runs from results.parquet, and holds them against
what the interface says."""

import io
import json
import os
import random
import sys
import time
import urllib.request

import numpy as np
import pyarrow.parquet as parquet

from gaffke import gaffke

URL, KEY = os.environ["SERVICE_URL"], os.environ["SERVICE_API_KEY"]
LEVEL, MARGIN, MOST_MISSING = 0.95, 0.05, 0.05


def call(method, path, body=None, raw=False):
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + KEY, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return response.read() if raw else json.load(response)


def until(what):
    for _ in range(600):
        found = what()
        if found:
            return found
        time.sleep(0.1)
    sys.exit("nothing came in a minute")


# Shapes of runs: how an item is answered, by a generator of random numbers. An
# answer is a number of right letters of ten, "error", or None for none at all.
def letters(chance):
    return lambda r: sum(r.random() < chance for _ in range(10))


def binary(chance):
    return lambda r: 10 if r.random() < chance else 0


def among(share, other, answer):
    return lambda r: other if r.random() < share else answer(r)


SHAPES = {
    "all right": dict(items=60, answer=lambda r: 10),
    "all wrong": dict(items=30, answer=lambda r: 0),
    "pass or fail": dict(items=120, answer=binary(0.8)),
    "nearly perfect": dict(items=150, answer=among(0.03, 3, lambda r: 10)),
    "graded": dict(items=80, answer=letters(0.7)),
    "few items": dict(items=6, answer=letters(0.5)),
    "errors": dict(items=100, answer=among(0.1, "error", letters(0.8))),
    "left out": dict(items=100, answer=among(0.15, None, letters(0.8))),
    "repeated": dict(items=40, answer=binary(0.7), repetitions=3),
    "repeated with errors": dict(items=40, answer=among(0.1, "error", binary(0.8)), repetitions=3),
    "clusters": dict(items=90, answer=letters(0.7), cluster=6),
    "clusters with errors": dict(items=90, answer=among(0.1, "error", letters(0.8)), cluster=6),
}


class Subject:
    """An evaluation whose answers this program gives."""

    def __init__(self, name, items, answer, repetitions=1, cluster=0):
        self.repetitions, self.answer = repetitions, answer
        self.dataset = call("POST", "/api/datasets", {"name": name})["id"]
        body = [{"input": f"{name} {i}", "expectedOutput": "a" * 10, "labels": {"group": f"g{i // cluster}"} if cluster else {}} for i in range(items)]
        self.items = [one["id"] for one in call("POST", f"/api/datasets/{self.dataset}/items", {"items": body})["items"]]
        self.groups = {item: body[i]["labels"].get("group", item) for i, item in enumerate(self.items)}
        self.clustered = cluster > 0
        self.id = call("POST", "/api/evaluations", {
            "name": name, "datasetId": self.dataset, "metrics": ["similarity"], "target": {"type": "client"},
        })["id"]

    def run(self, seed):
        """Makes a run, and returns it with the rows of its file."""
        r = random.Random(seed)
        body = {"repetitions": self.repetitions}
        if self.clustered:
            body["clusterKey"] = "group"
        run = call("POST", f"/api/evaluations/{self.id}/runs", body)["run_id"]
        path = f"/api/evaluations/{self.id}/runs/{run}"
        until(lambda: call("GET", path)["phase"] == "executing")
        sent = []
        for item in self.items:
            for epoch in range(self.repetitions):
                answer = self.answer(r)
                if answer == "error":
                    sent.append({"testCaseId": item, "epoch": epoch, "error": {"code": "broken", "message": "It broke."}})
                elif answer is not None:
                    sent.append({"testCaseId": item, "epoch": epoch, "output": "a" * answer + "b" * (10 - answer)})
        call("POST", path + "/results", {"results": sent, "final": True})
        until(lambda: call("GET", path)["statistics"])
        files = until(lambda: [a for a in call("GET", f"/api/evaluations/{self.id}/artifacts?runId={run}")["artifacts"] if a["name"] == "results.parquet"])
        content = call("GET", files[0]["download_path"], raw=True)
        return call("GET", path), parquet.read_table(io.BytesIO(content)).to_pylist()

    def scores(self, rows, worst):
        """The mean of each item over its repetitions; worst is what a missing
        score counts as, None leaves it out."""
        found = {}
        for row in rows:
            if row["overall"] is not None:
                found.setdefault(str(row["test_case_id"]), []).append(row["overall"])
        means = {}
        for item in self.items:
            values = found.get(item, [])
            if worst is not None:
                values = values + [worst] * (self.repetitions - len(values))
            if values:
                means[item] = sum(values) / len(values)
        return means

    def clusters(self, means):
        """Sums and sizes of the groups of items that count as one."""
        sums = {}
        for item, mean in means.items():
            s, n = sums.get(self.groups[item], (0, 0))
            sums[self.groups[item]] = (s + mean, n + 1)
        return np.array(list(sums.values()), dtype=float)


def limits(sums, sizes, low, high, alpha):
    """Limits of a mean of scores between low and high."""
    width = high - low
    return low + width * gaffke((sums - low * sizes) / width, sizes, alpha / 2), high - width * gaffke((high * sizes - sums) / width, sizes, alpha / 2)


def near(a, b, within):
    return a is not None and b is not None and abs(a - b) <= within


def threshold(lower, upper, bar):
    return "PASS" if lower >= bar else "FAIL" if upper < bar else "INCONCLUSIVE"


class Checks:
    def __init__(self):
        self.count, self.failed = 0, []

    def __call__(self, ok, what):
        self.count += 1
        if not ok:
            self.failed.append(what)


def check(subject, run, rows, decision, check):
    """Holds the figures of a run against its file."""
    shown, strict = run["statistics"], run["statistics"]["gates"]["overall"]
    means = subject.scores(rows, None)
    check(near(shown["overall"]["value"], np.mean(list(means.values())), 1e-9), f"mean {shown['overall']['value']}")
    passed = sum(row["status"] == "passed" for row in rows)
    check(run["passed"] == passed, f"passed {run['passed']} of the run, {passed} of its file")
    strictly = subject.clusters(subject.scores(rows, 0.0))
    sums, sizes = strictly[:, 0], strictly[:, 1]
    check(near(strict["value"], sums.sum() / sizes.sum(), 1e-9), f"mean with missing scores {strict['value']}")
    lower, upper = limits(sums, sizes, 0, 1, 1 - LEVEL)
    ci, slack = strict["ci"], 0.01 * (upper - lower) + 1e-6
    check(near(ci["lower"], lower, slack) and near(ci["upper"], upper, slack), f"interval {ci['lower']} to {ci['upper']}, of the file {lower} to {upper}")
    for ruling in decision["rulings"]:
        bar = float(ruling["requirement"].split(">=")[1])
        if min(abs(lower - bar), abs(upper - bar)) > slack:
            check(ruling["verdict"] == threshold(lower, upper, bar), f"{ruling['requirement']} is {ruling['verdict']}, of the file {lower} to {upper}")


def check_claim(subject, before, after, ruling, check):
    """Holds a difference and its verdict against two files."""
    a, b = subject.scores(before, 0.0), subject.scores(after, 0.0)
    both = subject.clusters({item: b[item] - a[item] for item in subject.items})
    sums, sizes = both[:, 0], both[:, 1]
    e = ruling["estimate"]
    check(near(e["value"], sums.sum() / sizes.sum(), 1e-9), f"difference {e['value']}")
    if set(np.unique(np.concatenate([list(a.values()), list(b.values())]))) <= {0.0, 1.0} and not subject.clustered:
        return  # rates have a method of their own
    lower, _ = limits(sums, sizes, -1, 1, 2 * (1 - LEVEL))
    full = limits(sums, sizes, -1, 1, 1 - LEVEL)
    slack = 0.01 * (full[1] - full[0]) + 1e-6
    check(near(e["ci"]["lower"], full[0], slack) and near(e["ci"]["upper"], full[1], slack), f"interval of the difference {e['ci']}, of the files {full}")
    lacking = 1 - sum(row["overall"] is not None for row in before) / (len(subject.items) * subject.repetitions)
    check((ruling["reason"] == "missing_scores") == (lacking > MOST_MISSING), f"{ruling['reason']}, and {lacking:.3f} of the baseline is missing")
    if lacking <= MOST_MISSING and abs(lower + MARGIN) > slack:
        check((ruling["verdict"] == "PASS") == (lower > -MARGIN), f"{ruling['requirement']} is {ruling['verdict']}, of the files at least {lower}")


def decide(subject, run, body):
    return call("POST", f"/api/evaluations/{subject.id}/runs/{run['run_id']}/decisions", body)


def main():
    started, done = time.time(), Checks()
    kept = None
    for seed, (name, shape) in enumerate(SHAPES.items()):
        subject = Subject(name, **shape)
        first, before = subject.run(seed)
        second, after = subject.run(1000 + seed)
        bars = [f"overall>={bar}" for bar in (0.5, 0.6, 0.7, 0.8, 0.9)]
        one = Checks()
        thresholds = {"rulings": [decide(subject, second, {"requirements": [bar]})["rulings"][0] for bar in bars]}
        check(subject, second, after, thresholds, one)
        claim = decide(subject, second, {"requirements": ["overall:non_inferior"], "margin": MARGIN, "baselineRunId": first["run_id"]})["rulings"][0]
        check_claim(subject, before, after, claim, one)
        done.count += one.count
        done.failed += [f"{name}: {what}" for what in one.failed]
        if name == "graded":
            kept = subject, second, after, thresholds
    # A check that cannot fail checks nothing.
    for name, tamper in {
        "a score": lambda rows: rows[:-1] + [{**rows[-1], "overall": 1 - rows[-1]["overall"]}],
        "a row": lambda rows: rows[:-8],
    }.items():
        tampered = Checks()
        check(kept[0], kept[1], tamper(kept[2]), kept[3], tampered)
        if not tampered.failed:
            done.failed.append(f"{name} that was changed went unnoticed")
    for what in done.failed:
        print("DIFFERS", what)
    print(f"figures shapes {len(SHAPES)} checks {done.count} differ {len(done.failed)} after {time.time() - started:.0f} s")
    sys.exit(bool(done.failed))


main()
