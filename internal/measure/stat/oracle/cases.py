"""Writes the cases of a program: random inputs, and what a library makes of them."""

import argparse
import json
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return plain(x.tolist())
    return x


def write(functions):
    """Calls each function as often as it is due: functions maps it to how many
    times fewer cases it gets than were asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000)
    options = parser.parse_args()
    for number, (function, times) in enumerate(functions.items()):
        rng = np.random.default_rng([options.seed, number])
        for _ in range(max(1, options.cases // times)):
            given, out = function(rng)
            json.dump({"f": function.__name__, "in": plain(given), "out": plain(out)}, sys.stdout, allow_nan=False)
            print()
