"""Computes with ppi-python, scikit-learn, statsmodels and scipy what package
correction must compute.

    oracle_correction.py [--seed N] [--cases N] > cases

Where no library has the method, it is computed here in another way than in Go: by
a numeric search or a numeric derivative instead of a formula.
"""

import math
import sys
import types

import numpy as np
import statsmodels.api as sm
from scipy import optimize, stats
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.weightstats import DescrStatsW

# ppi_py compiles what is used here for nothing.
sys.modules["numba"] = types.SimpleNamespace(njit=lambda f: f)
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # noqa: E402

from cases import write  # noqa: E402


def sample(rng):
    """Labels, the judge's scores of them, and its scores of other items."""
    n, m = int(rng.choice([2, 5, 15, 40, 200])), int(rng.choice([2, 10, 100, 1000]))
    rate = rng.choice([0.5, 0.8, 0.95])

    def draw(size):
        y = (rng.random(size) < rate).astype(float)
        if rng.random() < 0.5:
            return y, np.where(rng.random(size) < 0.8, y, 1 - y)
        return y, np.round(np.clip(0.3 + 0.5 * y + rng.normal(0, 0.2, size), 0, 1), 4)

    (y, f), (_, u) = draw(n), draw(m)
    return y, f, u


def ppi(rng):
    y, f, u = sample(rng)
    lam = float(rng.choice([0, 1, rng.random()]))
    value = float(np.ravel(ppi_mean_pointestimate(y, f, u, lam=lam))[0])
    low, high = (float(np.ravel(x)[0]) for x in ppi_mean_ci(y, f, u, alpha=0.05, lam=lam))
    return {"y": y.tolist(), "f": f.tolist(), "u": u.tolist(), "lambda": lam}, {"value": value, "lower": low, "upper": high, "tolerance": 1e-8}


def lambdas(rng):
    y, f, u = sample(rng)
    n, m = len(y), len(u)
    given = {"y": y.tolist(), "f": f.tolist(), "u": u.tolist()}

    def fit(w, y, f):
        d = DescrStatsW(np.c_[y, f], weights=w, ddof=1)
        cov, total = d.cov, w.sum()
        all_ = DescrStatsW(np.r_[f, u], weights=np.r_[w, np.ones(m)], ddof=1).var
        lam = min(1, max(0, cov[0, 1] / ((1 + total / m) * all_))) if all_ > 1e-15 else 0
        rest = DescrStatsW(y - lam * f, weights=w, ddof=1)
        return lam, lam * u.mean() + rest.mean, math.sqrt(lam**2 * u.var(ddof=1) / m + max(0, rest.var) / total), total - 1

    lam, value, se, _ = fit(np.ones(n), y, f)
    _, centre, soft, df = fit(np.r_[np.ones(n), np.full(4, 0.5)], np.r_[y, 0, 0, 1, 1], np.r_[f, 0, 1, 0, 1])
    half = stats.t.isf(0.025, df) * soft
    shown = min(1, max(0, value))
    return given, {
        "lambda": lam, "value": shown, "se": se if se > 1e-9 else None, "tolerance": 1e-7,
        "lower": min(shown, max(0, centre - half)), "upper": max(shown, min(1, centre + half)),
    }


def active(rng):
    n = int(rng.integers(10, 200))
    f = np.round(rng.random(n), 3)
    y = (rng.random(n) < f).astype(float)
    pi = np.round(rng.uniform(0.1, 1, n), 2)
    chosen = rng.random(n) < pi
    if chosen.sum() < 2 or chosen.all():
        return active(rng)
    w = chosen / pi
    lam = np.cov(f * (w - 1), y * w)[0, 1] / np.var(f * (w - 1), ddof=1)
    each = lam * f + w * (y - lam * f)
    return {"y": np.where(chosen, y, -1).tolist(), "f": f.tolist(), "pi": pi.tolist()}, {"lambda": lam, "value": each.mean(), "se": stats.sem(each), "tolerance": 1e-7}


def rogan(rng):
    n, m0, m1 = int(rng.integers(50, 2000)), int(rng.integers(10, 200)), int(rng.integers(10, 200))
    k0, k1 = int(rng.binomial(m0, rng.uniform(0.75, 1))), int(rng.binomial(m1, rng.uniform(0.75, 1)))
    k = int(rng.binomial(n, rng.uniform(0.3, 0.95)))
    theta = lambda x: (x[0] + x[1] - 1) / (x[1] + x[2] - 1)
    at = np.array([k / n, k0 / m0, k1 / m1])
    if k0 / m0 + k1 / m1 < 1.5 or not 0.01 < theta(at) < 0.99:
        return rogan(rng)
    gradient = optimize.approx_fprime(at, theta, 1e-7)
    se = math.sqrt(sum(g * g * p * (1 - p) / m for g, p, m in zip(gradient, at, [n, m0, m1])))
    return {"k": k, "n": n, "k0": k0, "m0": m0, "k1": k1, "m1": m1}, {"value": theta(at), "se": se, "tolerance": 1e-5}


def shares(rng):
    k = int(rng.integers(2, 5))
    m = np.eye(k) * rng.uniform(0.6, 0.9) + rng.dirichlet(np.ones(k), k).T * 0.1
    m = m / m.sum(0)
    pi = rng.dirichlet(np.full(k, 5))
    return {"matrix": m.tolist(), "marginal": (m @ pi).tolist()}, {"shares": np.linalg.solve(m, m @ pi).tolist()}


def isotonic(rng):
    n = int(rng.integers(1, 60))
    x = np.round(rng.random(n), int(rng.choice([1, 3])))
    y = (rng.random(n) < x).astype(float)
    w = np.round(rng.uniform(0.1, 3, n), 2)
    grid = np.linspace(-0.1, 1.1, 25)
    fit = IsotonicRegression(out_of_bounds="clip").fit(x, y, sample_weight=w)
    return {"x": x.tolist(), "y": y.tolist(), "w": w.tolist(), "grid": grid.tolist()}, {"p": fit.predict(grid).tolist(), "absolute": 1e-7}


def platt(rng):
    n = int(rng.integers(20, 200))
    x = np.round(rng.normal(0, 1, n), 3)
    good = rng.random(n) < 1 / (1 + np.exp(-2 * x))
    if good.all() or not good.any():
        return platt(rng)
    up, down = good.sum(), (~good).sum()
    t = np.where(good, (up + 1) / (up + 2), 1 / (down + 2))
    # Each item once as good and once as not, as often as its target says.
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10000, solver="newton-cholesky")
    fit.fit(np.r_[x, x][:, None], np.r_[np.ones(n), np.zeros(n)], sample_weight=np.r_[t, 1 - t])
    return {"x": x.tolist(), "good": good.tolist()}, {"a": -fit.coef_[0, 0], "b": -fit.intercept_[0], "absolute": 1e-6}


def checked(rng):
    n = int(rng.integers(30, 300))
    p = np.round(rng.uniform(0.02, 0.98, n), 4)
    good = rng.random(n) < p**1.3
    if good.all() or not good.any():
        return checked(rng)
    r = sm.Logit(good.astype(float), sm.add_constant(np.log(p / (1 - p)))).fit(disp=0, tol=1e-12)
    return {"p": p.tolist(), "good": good.tolist()}, {
        "brier": brier_score_loss(good, p), "intercept": r.params[0], "slope": r.params[1],
        "intercept_se": r.bse[0], "slope_se": r.bse[1], "absolute": 1e-6,
    }


def accepted(rng):
    n, risk = int(rng.integers(1, 500)), float(rng.choice([0.05, 0.1, 0.2]))
    k = int(rng.binomial(n, rng.uniform(0, 2 * risk)))
    return {"n": n, "k": k, "risk": risk}, {"p": stats.binomtest(k, n, risk, alternative="less").pvalue, "bound": stats.beta.ppf(0.9, k + 1, n - k) if k < n else 1, "tolerance": 1e-8}


def drift(rng):
    n = int(rng.integers(20, 600))
    down, up = int(rng.binomial(n, 0.05)), int(rng.binomial(n, 0.02))
    q = float(rng.choice([0.01, 0.03, 0.1]))
    exact = mcnemar([[0, down], [up, 0]], exact=True).pvalue
    return {"n": n, "down": down, "up": up, "q": q}, {"flips": stats.binomtest(down + up, n, q, alternative="greater").pvalue, "exact": exact, "tolerance": 1e-6}


def labels(rng):
    r, s2, w, n = float(rng.uniform(0, 0.99)), float(rng.uniform(0.02, 0.25)), float(rng.uniform(0.01, 0.1)), int(rng.integers(0, 10000))
    z = stats.norm.isf(0.025)
    alone = z * z * s2 / w**2
    with_ = optimize.brentq(lambda x: x - alone * (1 - r * r * n / (x + n)), 1e-9, alone + 1, xtol=1e-12) if n > 0 else alone
    return {"r": r, "s2": s2, "w": w, "n": n}, {"with": with_, "alone": alone, "tolerance": 1e-7}


if __name__ == "__main__":
    write({ppi: 4, lambdas: 2, active: 2, rogan: 4, shares: 4, isotonic: 4, platt: 10, checked: 10, accepted: 4, drift: 4, labels: 4})
