"""Computes with scikit-learn, statsmodels, scipy and krippendorff what package
agreement must compute.

    oracle_agreement.py [--seed N] [--cases N] > cases

Where no library has the method, it is computed here in another way than in Go:
pair by pair instead of from sums.
"""

import itertools
import math

import krippendorff
import numpy as np
import statsmodels.api as sm
from scipy import stats
from sklearn import metrics
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from cases import write


def counts(rng, k=None):
    """A table of two raters who agree more or less, with rare labels among them."""
    k = int(rng.integers(2, 6)) if k is None else k
    n = int(rng.choice([20, 30, 60, 150, 1000]))
    p = rng.dirichlet(np.full(k, rng.choice([0.3, 2])))
    first = rng.choice(k, n, p=p)
    own = rng.random(n) < rng.choice([0.05, 0.3, 1])
    second = np.where(own, rng.choice(k, n, p=p), first)
    table = np.zeros((k, k), int)
    np.add.at(table, (first, second), 1)
    return table, first, second


def kappa(rng):
    table, first, second = counts(rng)
    given = {"table": table.tolist()}
    if len(set(first) | set(second)) < 2:
        return given, {"nominal": None}
    out = {"tolerance": 1e-6}
    k, n = len(table), table.sum()
    labels = np.arange(k)
    rare = min(table.sum(0).min(), table.sum(1).min()) < 5
    for name, wt, weights in [("nominal", None, None), ("linear", "linear", "linear"), ("quadratic", "quadratic", "quadratic")]:
        if name != "nominal" and k == 2:
            continue
        value = metrics.cohen_kappa_score(first, second, labels=labels, weights=weights)
        out[name] = value
        r = cohens_kappa(table, wt=wt)
        if r.std_kappa > 1e-6:
            out[name + "_se"] = r.std_kappa
        if k == 2 or n < 50 or rare or r.std_kappa < 1e-6:
            r = cohens_kappa(table + 2 / k**2, wt=wt)
        half = stats.norm.isf(0.025) * r.std_kappa
        out[name + "_lower"] = min(value, max(-1, r.kappa - half))
        out[name + "_upper"] = max(value, min(1, r.kappa + half))
    return given, out


def confusion(rng):
    table, first, second = counts(rng)
    labels = np.arange(len(table))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(first, second, labels=labels, zero_division=np.nan)
    absent = (table.sum(0) == 0) | (table.sum(1) == 0)
    out = {"support": support.tolist(), "accuracy": metrics.accuracy_score(first, second)}
    out["balanced"] = np.mean([recall[c] for c in labels if table[c].sum() > 0])
    for c in labels:
        out[f"precision{c}"] = None if np.isnan(precision[c]) else precision[c]
        out[f"recall{c}"] = None if np.isnan(recall[c]) else recall[c]
        out[f"f1_{c}"] = None if absent[c] else f1[c]
    one = len(set(first)) < 2 or len(set(second)) < 2
    out["mcc"] = None if one else metrics.matthews_corrcoef(first, second)
    return {"table": table.tolist()}, out


def ratings(rng):
    """Ratings of items by raters, with holes."""
    raters, items, k = int(rng.integers(2, 6)), int(rng.integers(3, 40)), int(rng.integers(2, 6))
    truth = rng.integers(1, k + 1, items)
    own = rng.random((raters, items)) < rng.choice([0.1, 0.5, 1])
    x = np.where(own, rng.integers(1, k + 1, (raters, items)), truth).astype(float)
    x[rng.random(x.shape) < rng.choice([0, 0.3])] = np.nan
    return x, k


def alpha(rng):
    x, k = ratings(rng)
    given = {"ratings": [[None if np.isnan(v) else v for v in row] for row in x]}
    shared = x[:, (~np.isnan(x)).sum(0) >= 2]
    if len(set(shared[~np.isnan(shared)])) < 2:
        return given, {level: None for level in ("nominal", "ordinal", "interval")}
    return given, {level: krippendorff.alpha(reliability_data=shared, level_of_measurement=level) for level in ("nominal", "ordinal", "interval")}


def gwet(rng):
    """Pair by pair: agreement is counted, and chance from the labels' shares."""
    x, k = ratings(rng)
    items = [[int(v) for v in column[~np.isnan(column)]] for column in x.T]
    items = [i for i in items if i]
    shared = [i for i in items if len(i) > 1]
    given = {"ratings": [[None if np.isnan(v) else v for v in row] for row in x], "labels": k}
    if not shared:
        return given, {"ac1": None}
    agreed = np.mean([np.mean([a == b for a, b in itertools.combinations(i, 2)]) for i in shared])
    pi = [np.mean([i.count(c) / len(i) for i in items]) for c in range(1, k + 1)]
    expected = sum(p * (1 - p) for p in pi) / (k - 1)
    return given, {"ac1": (agreed - expected) / (1 - expected)}


def together(rng):
    """Raters pair by pair, label by label, and without each of them."""
    x, k = ratings(rng)
    rows = range(len(x))
    given = {"ratings": [[None if np.isnan(v) else v for v in row] for row in x], "labels": k}
    items = [[int(v) for v in column[~np.isnan(column)]] for column in x.T]
    out = {}
    for c in range(1, k + 1):
        # Of a rating with the label, the share of the item's others that have it.
        seen = [(i.count(c) - 1) / (len(i) - 1) for i in items if len(i) > 1 for v in i if v == c]
        out[f"label{c - 1}"] = np.mean(seen) if seen else None
    for a, b in itertools.combinations(rows, 2):
        both = ~np.isnan(x[a]) & ~np.isnan(x[b])
        if not both.any():
            continue
        out[f"agreed{a}{b}"] = (x[a, both] == x[b, both]).mean()
        if both.sum() >= 20 and len(set(x[a, both]) | set(x[b, both])) > 1:
            out[f"kappa{a}{b}"] = metrics.cohen_kappa_score(x[a, both], x[b, both])

    def alpha(y):
        y = y[:, (~np.isnan(y)).sum(0) >= 2]
        return None if len(set(y[~np.isnan(y)])) < 2 else krippendorff.alpha(reliability_data=y, level_of_measurement="nominal")

    for j in rows:
        if (~np.isnan(x[j])).any():
            out[f"without{j}"] = alpha(np.delete(x, j, 0))
    return given, out


def fleiss(rng):
    x, k = ratings(rng)
    x = np.nan_to_num(x, nan=1)
    table = np.array([[(column == c).sum() for c in range(1, k + 1)] for column in x.T])
    given = {"ratings": x.tolist(), "labels": k}
    if len(set(x.flatten())) < 2:
        return given, {"fleiss": None}
    return given, {"fleiss": fleiss_kappa(table)}


def scores(rng):
    n = int(rng.choice([5, 8, 20, 100, 400]))
    h = rng.integers(1, 6, n).astype(float) if rng.random() < 0.6 else rng.normal(0, 1, n)
    j = h + (rng.integers(-1, 2, n) if rng.random() < 0.6 else rng.normal(0.2, 1, n))
    given = {"human": h.tolist(), "judge": j.tolist()}
    if len(set(h)) < 2 or len(set(j)) < 2:
        return given, {"pearson": None, "spearman": None, "kendall": None, "concordance": None}
    r = stats.pearsonr(h, j)
    out = {
        "pearson": r.statistic, "spearman": stats.spearmanr(h, j).statistic, "kendall": stats.kendalltau(h, j).statistic,
        "concordance": 2 * np.cov(h, j, ddof=0)[0, 1] / (h.var() + j.var() + (h.mean() - j.mean()) ** 2),
        "bias": (j - h).mean(), "error": metrics.mean_absolute_error(h, j), "tolerance": 1e-8,
    }
    if abs(r.statistic) < 1 - 1e-6:
        ci = r.confidence_interval()
        out |= {"lower": ci.low, "upper": ci.high}
    return given, out


def icc(rng):
    n, m = int(rng.integers(2, 30)), int(rng.integers(2, 6))
    x = np.round(rng.normal(0, rng.choice([0, 1, 3]), (n, 1)) + rng.normal(0, 1, (n, m)), 2)
    f = stats.f_oneway(*x).statistic
    low, high = f / stats.f.ppf(0.975, n - 1, n * (m - 1)), f * stats.f.ppf(0.975, n * (m - 1), n - 1)
    at = lambda f: (f - 1) / (f + m - 1)
    return {"items": x.tolist()}, {"icc": at(f), "lower": at(low), "upper": at(high), "tolerance": 1e-8}


def replacement(rng):
    n = int(rng.integers(30, 80))
    truth = rng.integers(0, 3, n)
    said = lambda right: np.where(rng.random(n) < right, truth, rng.integers(0, 3, n)).astype(float)
    people, judge, epsilon = [said(rng.uniform(0.4, 0.95)) for _ in range(3)], said(rng.uniform(0.4, 0.95)), float(rng.choice([0.1, 0.2]))
    p = []
    for j in range(3):
        others = [people[k] for k in range(3) if k != j]
        ours, theirs = sum((judge == o).astype(float) for o in others), sum((people[j] == o).astype(float) for o in others)
        d = (theirs >= ours).astype(float) - (ours >= theirs)
        if d.std() == 0:
            return replacement(rng)
        p.append(stats.ttest_1samp(d, epsilon, alternative="less").pvalue)
    return {"people": [x.tolist() for x in people], "judge": judge.tolist(), "epsilon": epsilon}, {"p": p, "tolerance": 1e-7}


def slope(rng):
    n = int(rng.integers(4, 60))
    x, e = np.round(rng.normal(0, 1, n), 3), np.round(rng.normal(0, 0.2, n), 3)
    r = sm.OLS(e, sm.add_constant(x)).fit(cov_type="HC3")
    half = stats.t.isf(0.025, n - 2) * r.bse[1]
    return {"length": x.tolist(), "errors": e.tolist()}, {
        "slope": r.params[1], "se": r.bse[1], "lower": r.params[1] - half, "upper": r.params[1] + half, "tolerance": 1e-7,
    }


if __name__ == "__main__":
    write({kappa: 4, confusion: 10, alpha: 2, gwet: 2, together: 4, fleiss: 2, scores: 4, icc: 4, replacement: 4, slope: 4})
