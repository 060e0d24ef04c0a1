"""Gaffke's limit of a mean of bounded scores, computed in another way than package
stat does: by inverting the characteristic function."""

import math

import numpy as np
from scipy import integrate, optimize


def chance(sums, weights, t):
    """P(sum of E (S - t W) <= 0) for independent exponential E, by inverting the
    characteristic function."""
    a = sums - t * weights
    a = a / np.abs(a).max()

    def part(u):
        return math.sin(np.sum(np.arctan(a * u))) * math.exp(-0.5 * np.sum(np.log1p((a * u) ** 2))) / u

    return 0.5 - integrate.quad(part, 0, np.inf, limit=1000)[0] / math.pi


def gaffke(sums, weights, alpha):
    """The lower limit of a mean of scores from 0 on: one more unit at 0, and all
    units weighed at random."""
    if sums.sum() <= 1e-12:
        return 0.0
    s, w = np.append(sums, 0), np.append(weights, weights.mean())
    highest = (sums / weights).max()
    return optimize.brentq(lambda t: chance(s, w, t) - alpha, 1e-9 * highest, highest * (1 - 1e-9), xtol=1e-9)
