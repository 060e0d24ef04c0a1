"""Computes with scipy, statsmodels and numpy what package stat must compute.

    oracle_stat.py [--seed N] [--cases N] > cases.jsonl

Every line is one call: the function, its input, and what a reference library
makes of it. Inputs are random, with many ties, constants and tiny samples among
them. Where no library has the method, it is computed here in another way than
in Go: by a numeric search instead of a formula, by trying everything instead of
counting.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import statsmodels.api as sm
from scipy import optimize, special, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from cases import write
from gaffke import gaffke

Z = lambda alpha: stats.norm.isf(alpha / 2)
T = lambda alpha, df: stats.t.isf(alpha / 2, df)
LEVELS = [0.8, 0.9, 0.95, 0.95, 0.95, 0.99, 0.999]


def scores(rng, n):
    """Scores of one of the shapes that metrics have."""
    shape = rng.integers(5)
    if shape == 0:
        return rng.integers(0, 2, n).astype(float)
    if shape == 1:
        return np.round(rng.random(n) * 4) / 4
    if shape == 2:
        return rng.random(n)
    if shape == 3:
        return np.full(n, float(np.round(rng.random(), 2)))
    return np.clip(rng.normal(0.7, 0.2, n), 0, 1)


def size(rng):
    return int(rng.choice([0, 1, 2, 3, 5, 8, 13, 30, 100, 300], p=[0.03, 0.05, 0.1, 0.1, 0.12, 0.15, 0.15, 0.15, 0.1, 0.05]))


def rows(x, cluster=None, weight=None, item=None):
    out = []
    for i, v in enumerate(x):
        r = {"item": f"i{i if item is None else item[i]}", "score": float(v)}
        if cluster is not None:
            r["cluster"] = f"c{cluster[i]}"
        if weight is not None:
            r["weight"] = float(weight[i])
        out.append(r)
    return out


def number(x):
    return None if x is None or not math.isfinite(x) else float(x)


# Functions of distributions.


def t_quantile(rng):
    df = float(np.round(10 ** rng.uniform(-0.3, 6), int(rng.integers(0, 6))))
    p = float(10 ** rng.uniform(-6, -0.31))
    return {"p": p, "df": max(df, 0.5)}, {"x": stats.t.ppf(p, max(df, 0.5))}


def t_test(rng):
    df, t = float(10 ** rng.uniform(0, 5)), float(rng.normal() * 10 ** rng.uniform(-1, 1))
    return {"t": t, "df": df}, {"p": max(1e-16, 2 * stats.t.sf(abs(t), df))}


def beta_quantile(rng):
    n = int(10 ** rng.uniform(0, 6))
    k = int(rng.choice([1, n, rng.integers(1, n + 1), min(n, 2)]))
    p = float(rng.choice([0.0005, 0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995]))
    return {"p": p, "a": k, "b": n - k + 1}, {"x": stats.beta.ppf(p, k, n - k + 1)}


def binomial_cdf(rng):
    n = int(10 ** rng.uniform(0, 5))
    k, p = int(rng.integers(0, n + 1)), float(rng.choice([0.5, 0.95, 0.05, rng.random()]))
    return {"k": k, "n": n, "p": p}, {"x": stats.binom.cdf(k, n, p)}


def quantile(rng):
    x = scores(rng, max(1, size(rng)))
    q = float(rng.choice([0.01, 0.05, 0.25, 0.5, 0.9, 0.95, 0.99, rng.random()]))
    return {"x": x.tolist(), "q": q}, {"x": np.quantile(x, q)}


# Means.


def clustered(y, g, w=None):
    """The mean and its standard error over clusters, by least squares."""
    y, w = np.asarray(y, float), np.ones(len(y)) if w is None else np.asarray(w, float)
    fit = sm.WLS(y, np.ones(len(y)), weights=w).fit(cov_type="cluster", cov_kwds={"groups": np.unique(g, return_inverse=True)[1]})
    return float(fit.params[0]), float(fit.bse[0]), len(set(g))


def mean(rng):
    x, level = scores(rng, size(rng)), float(rng.choice(LEVELS))
    given = {"rows": rows(x), "level": level}
    if len(x) == 0:
        return given, {"value": None, "se": None, "lower": None, "status": "insufficient"}
    if len(x) == 1:
        return given, {"value": x[0], "se": None, "lower": None, "status": "insufficient"}
    if len(set(x)) == 1:
        return given, {"value": x[0], "se": None, "lower": None, "upper": None, "status": "degenerate"}
    ci = stats.ttest_1samp(x, 0).confidence_interval(level)
    return given, {
        "value": x.mean(), "se": stats.sem(x), "lower": ci.low, "upper": ci.high,
        "df": len(x) - 1, "status": "fragile" if len(x) < 10 else "ok",
    }


def groups(rng, n):
    return rng.integers(0, max(1, int(rng.choice([1, 2, 5, n / 3 + 1, n + 1]))), n)


def mean_clustered(rng):
    n = max(2, size(rng))
    x, g, level = scores(rng, n), groups(rng, n), float(rng.choice(LEVELS))
    w = np.round(rng.gamma(2, 1, n) + 0.01, 3) if rng.random() < 0.5 else None
    given = {"rows": rows(x, g, w), "level": level, "weighted": w is not None}
    if len(set(g)) < 2:
        return given, {"value": np.average(x, weights=w), "se": None, "status": "insufficient"}
    m, se, count = clustered(x, g, w)
    if len(set(x)) == 1 or se < 1e-13:
        return given, {"value": m, "se": None, "status": "degenerate"}
    half = T(1 - level, count - 1) * se
    return given, {"value": m, "se": se, "df": count - 1, "lower": m - half, "upper": m + half}


def bounded(rng):
    n = int(rng.choice([2, 3, 5, 10, 30, 100]))
    x, level = scores(rng, n), float(rng.choice([0.9, 0.95]))
    g = groups(rng, n) if rng.random() < 0.5 else np.arange(n)
    w = np.round(rng.gamma(4, 1, n) + 0.1, 3) if rng.random() < 0.5 else None
    given = {"rows": rows(x, g, w), "level": level, "weighted": w is not None}
    if len(set(g)) < 2:
        return given, {"lower": None, "status": "insufficient"}
    w = np.ones(n) if w is None else w
    weights = np.array([w[g == c].sum() for c in sorted(set(g))])
    low = np.array([(w * x)[g == c].sum() for c in sorted(set(g))])
    high = np.array([(w * (1 - x))[g == c].sum() for c in sorted(set(g))])
    lower, upper = gaffke(low, weights, (1 - level) / 2), 1 - gaffke(high, weights, (1 - level) / 2)
    return given, {"lower": lower, "upper": upper, "absolute": 0.01 * (upper - lower)}


def epochs(rng):
    n = max(2, size(rng) // 3)
    k = rng.integers(2, 6, n) if rng.random() < 0.5 else np.full(n, 3)
    items = [scores(rng, j) for j in k]
    given = {"rows": [r for i, x in enumerate(items) for r in rows(x, item=[i] * len(x))]}
    means, within = np.array([x.mean() for x in items]), np.array([x.var(ddof=1) for x in items])
    v = within / k
    out = {"value": means.mean(), "within": within.mean(), "between": max(0, means.var(ddof=1) - within.mean() * (1 / k).mean())}
    if v.sum() > 1e-25:
        out |= {"dataset_se": math.sqrt(v.sum()) / n, "dataset_df": v.sum() ** 2 / (v**2 / (k - 1)).sum()}
    if means.std() > 1e-13:
        out["se"] = stats.sem(means)
    return given, out


def overall(rng):
    n, m = max(2, size(rng)), int(rng.integers(1, 5))
    x = np.array([rng.random(n) for _ in range(m)])
    known = rng.random((m, n)) > 0.05
    w = np.round(rng.random(m) + 0.1, 2)
    given = {"metrics": [
        {"name": f"m{j}", "weight": float(w[j]), "rows": [r | ({} if known[j][i] else {"missing": "output", "score": 0}) for i, r in enumerate(rows(x[j]))]}
        for j in range(m)
    ]}
    w = w / w.sum()
    full = known.all(0)
    composite = w @ x
    out = {}
    if full.sum() > 0:
        out["value"] = composite[full].mean()
    if full.sum() > 1:
        out["se"] = stats.sem(composite[full])
    if not full.all():
        out["worst"] = (w @ np.where(known, x, 0)).mean()
        out["best"] = (w @ np.where(known, x, 1)).mean()
    return given, out


# Pass rates.


def proportion(rng):
    n = int(rng.choice([1, 2, 3, 10, 50, 1000, 100000]))
    k = int(rng.choice([0, n, rng.integers(0, n + 1), max(0, n - 1)]))
    level = float(rng.choice(LEVELS))
    out = {}
    for ours, theirs in [("wilson", "wilson"), ("clopper_pearson", "beta"), ("jeffreys", "jeffreys")]:
        lower, upper = proportion_confint(k, n, 1 - level, theirs)
        if k == 0:  # the point belongs to the interval
            lower = 0
        if k == n:
            upper = 1
        out[ours + "_lower"], out[ours + "_upper"] = lower, upper
    lower = 0 if k == 0 else stats.beta.ppf(1 - level, k, n - k + 1)
    return {"k": k, "n": n, "level": level}, out | {"one_sided": lower}


def pass_rate_clustered(rng):
    n = int(rng.choice([4, 10, 30, 100, 300]))
    g = groups(rng, n)
    rate = rng.choice([0.5, 0.9, 0.97])
    x = (rng.random(n) < np.clip(rate + rng.normal(0, 0.15, n + 1)[g], 0, 1)).astype(float)
    level = float(rng.choice(LEVELS))
    given = {"rows": rows(x, g), "level": level}
    count = len(set(g))
    if count < 2:
        return given, {"value": x.mean(), "wilson_lower": None}
    if count == n:
        lower, upper = proportion_confint(x.sum(), n, 1 - level, "wilson")
        return given, {"value": x.mean(), "wilson_lower": lower, "wilson_upper": upper}
    p, (_, se, _) = x.mean(), clustered(x, g)  # least squares leave a digit of noise in the mean
    v = p * (1 - p) / n
    n_eff = n / (max(1, se * se / v) if v > 0 else n / count)
    t = T(1 - level, count - 1)
    d = 1 + t * t / n_eff
    centre, half = (p + t * t / (2 * n_eff)) / d, t * math.sqrt(p * (1 - p) / n_eff + t * t / (4 * n_eff**2)) / d
    star = min(n, n_eff * (T(1 - level, n - 1) / t) ** 2)
    k = p * star
    a = (1 - level) / 2
    return given, {
        "value": p, "n_eff": n_eff, "wilson_lower": max(0, centre - half), "wilson_upper": min(1, centre + half),
        "gate_lower": 0 if k == 0 else stats.beta.ppf(a, k, star - k + 1), "gate_upper": 1 if k == star else stats.beta.isf(a, k + 1, star - k),
    }


def pass_at_k(rng):
    n = int(rng.integers(1, 40))
    c, k = int(rng.integers(0, n + 1)), int(rng.integers(1, n + 1))
    return {"n": n, "c": c, "k": k}, {
        "any": float(1 - Fraction(math.comb(n - c, k), math.comb(n, k))), "all": float(Fraction(math.comb(c, k), math.comb(n, k))),
    }


def order_statistics(rng):
    n, q, alpha = int(rng.integers(1, 400)), float(rng.choice([0.5, 0.9, 0.95, 0.99])), float(rng.choice([0.05, 0.1]))
    cdf = stats.binom.cdf(np.arange(n + 1), n, q)  # of at most 0, 1, …
    low = max([l for l in range(1, n + 1) if cdf[l - 1] <= alpha / 2], default=0)
    high = min([u for u in range(1, n + 1) if cdf[u - 1] >= 1 - alpha / 2], default=0)
    return {"n": n, "q": q, "alpha": alpha}, {"low": low, "high": high}


# Comparisons.


def paired(rng):
    n, level = max(2, size(rng)), float(rng.choice(LEVELS))
    a = rng.random(n)
    b = np.clip(a + np.round(rng.normal(0.02, 0.1, n), int(rng.integers(1, 4))), 0, 1)
    given = {"a": rows(a), "b": rows(b), "level": level}
    d = b - a
    if d.std() < 1e-12:
        return given, {"status": "degenerate"}
    test = stats.ttest_rel(b, a)
    ci = test.confidence_interval(level)
    out = {
        "value": d.mean(), "se": stats.sem(d), "p": max(1e-16, test.pvalue), "lower": ci.low, "upper": ci.high,
        "correlation": number(stats.pearsonr(a, b)[0]), "reduction": 1 - stats.sem(d) ** 2 / (stats.sem(a) ** 2 + stats.sem(b) ** 2),
    }
    return given, out


def paired_clustered(rng):
    n = max(4, size(rng))
    a, g = rng.random(n), groups(rng, n)
    b = np.clip(a + rng.normal(0.05, 0.2, n), 0, 1)
    given = {"a": rows(a, g), "b": rows(b, g)}
    if len(set(g)) < 2:
        return given, {"status": "insufficient"}
    m, se, count = clustered(b - a, g)
    return given, {"value": m, "se": se, "p": max(1e-16, 2 * stats.t.sf(abs(m / se), count - 1))}


def sign_flip(rng):
    n = int(rng.integers(2, 11))
    d = np.round(rng.normal(0.3, 1, n), int(rng.integers(0, 3)))
    p = stats.permutation_test((d,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", n_resamples=np.inf, vectorized=True).pvalue
    return {"d": d.tolist()}, {"p": p}


def fourfold(rng):
    n = int(rng.choice([1, 2, 5, 20, 100, 1000]))
    share = rng.dirichlet(rng.choice([0.3, 1, 5], 4))
    return [int(v) for v in rng.multinomial(n, share)]


def mcnemar_test(rng):
    e, f, g, h = fourfold(rng)
    k, n = min(f, g), f + g
    out = {"exact": max(1e-16, mcnemar([[e, f], [g, h]], exact=True).pvalue) if n else 1}
    out["mid_p"] = min(1, max(1e-16, 2 * stats.binom.cdf(k, n, 0.5) - stats.binom.pmf(k, n, 0.5))) if n else 1
    return {"table": [e, f, g, h]}, out


def newcombe_paired(rng):
    e, f, g, h = fourfold(rng)
    n, level = e + f + g + h, float(rng.choice(LEVELS))
    p1, p2 = (e + f) / n, (e + g) / n
    (l1, u1), (l2, u2) = (proportion_confint(k, n, 1 - level, "wilson") for k in (e + f, e + g))
    margins = [e + f, g + h, e + g, f + h]
    phi = 0
    if all(margins):
        phi = e * h - f * g
        phi = (max(phi - n / 2, 0) if phi > 0 else phi) / math.sqrt(math.prod(margins))
    quad = lambda x, y: math.sqrt(max(0, np.array([x, -y]) @ np.array([[1, phi], [phi, 1]]) @ np.array([x, -y])))
    return {"table": [e, f, g, h], "level": level}, {"lower": p1 - p2 - quad(p1 - l1, u2 - p2), "upper": p1 - p2 + quad(p2 - l2, u1 - p1)}


def tango(rng):
    e, f, g, h = fourfold(rng)
    n = e + f + g + h
    z = Z(0.05)

    def score(delta):
        """The score test of a difference, with the share of g found by search."""
        # The smaller share is a part u of what the difference leaves for it.
        fewer, more = (g, f) if delta >= 0 else (f, g)
        span, gap = (1 - abs(delta)) / 2, abs(delta)
        slope = lambda u: (fewer / (u * span) if fewer else 0) + more / (u * span + gap) - (e + h) / (span * (1 - u))
        if fewer == 0 and slope(1e-300) <= 0:
            u = 0
        elif e + h == 0:
            u = 1
        else:
            u = optimize.brentq(slope, 1e-300, 1 - 1e-16, xtol=1e-300, rtol=1e-14)
        q = u * span + max(0, -delta)
        return (f - g - n * delta) / math.sqrt(n * (2 * q + delta * (1 - delta)))

    d, edge = (f - g) / n, 1e-9
    if f + g == 0:
        half = z * z / (z * z + n)
        return {"table": [e, f, g, h]}, {"lower": -half, "upper": half}
    lower = -1 if d == -1 else optimize.brentq(lambda x: score(x) - z, -1 + edge, d - 1e-12, xtol=1e-14)
    upper = 1 if d == 1 else optimize.brentq(lambda x: score(x) + z, d + 1e-12, 1 - edge, xtol=1e-14)
    return {"table": [e, f, g, h]}, {"lower": lower, "upper": upper, "tolerance": 1e-6}


def newcombe_independent(rng):
    n1, n2 = (int(rng.choice([1, 2, 10, 50, 1000])) for _ in range(2))
    k1, k2 = int(rng.integers(0, n1 + 1)), int(rng.integers(0, n2 + 1))
    level = float(rng.choice(LEVELS))
    lower, upper = confint_proportions_2indep(k2, n2, k1, n1, method="newcomb", compare="diff", alpha=1 - level)
    return {"k1": k1, "n1": n1, "k2": k2, "n2": n2, "level": level}, {"lower": lower, "upper": upper}


def welch(rng):
    a, b = (rng.normal(rng.random(), rng.random() + 0.01, max(2, size(rng))) for _ in range(2))
    level = float(rng.choice(LEVELS))
    test = stats.ttest_ind(b, a, equal_var=False)
    ci = test.confidence_interval(level)
    return {"a": rows(a), "b": rows(b), "level": level}, {
        "value": b.mean() - a.mean(), "df": test.df, "p": max(1e-16, test.pvalue), "lower": ci.low, "upper": ci.high,
    }


def adjust(rng):
    p = np.round(rng.random(int(rng.integers(1, 30))) ** int(rng.choice([1, 3])), int(rng.choice([2, 6])))
    return {"p": p.tolist()}, {
        name: multipletests(p, method=method)[1].tolist() for name, method in [("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")]
    }


def max_t(rng):
    g, m = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    d = np.round(rng.normal(0.2, 0.3, (g, m)), int(rng.integers(1, 3)))
    norm = np.sqrt((d**2).sum(0))
    if not norm.all():
        return max_t(rng)
    observed = abs(d.sum(0)) / norm
    highest = np.array([max(abs(np.array(s) @ d) / norm) for s in itertools.product([1, -1], repeat=g)])
    return {"d": d.tolist()}, {"p": [float((highest >= o - 1e-9).mean()) for o in observed]}


# Sequences, plans, the bootstrap, slices.


def beta_binomial(rng):
    n = int(10 ** rng.uniform(0, 5))
    k, alpha = int(rng.choice([0, n, rng.integers(0, n + 1), max(0, n - 1)])), float(rng.choice([0.05, 0.01, 0.1]))
    won = special.betaln(k + 0.5, n - k + 0.5) - special.betaln(0.5, 0.5)
    excess = lambda p: won - special.xlogy(k, p) - special.xlog1py(n - k, -p) - math.log(1 / alpha)
    find = lambda a, b: optimize.brentq(excess, a, b, xtol=1e-15, rtol=1e-13, maxiter=500)
    return {"k": k, "n": n, "alpha": alpha}, {
        "lower": 0 if k == 0 else find(1e-300, k / n), "upper": 1 if k == n else find(k / n, 1 - 1e-16), "tolerance": 1e-8,
    }


def betting(rng):
    x = scores(rng, int(rng.integers(1, 100)))
    alpha = 0.05
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    stake = np.sqrt(2 * np.log(2 / alpha) / (t * np.log(1 + t) * before))
    above = lambda m: np.log(1 + np.minimum(stake, 0.5 / m) * (x - m)).sum() - math.log(2 / alpha)
    below = lambda m: np.log(1 - np.minimum(stake, 0.5 / (1 - m)) * (x - m)).sum() - math.log(2 / alpha)
    find = lambda f: optimize.brentq(f, 1e-12, 1 - 1e-12, xtol=1e-15)
    return {"x": x.tolist(), "alpha": alpha}, {
        "lower": 0 if above(1e-12) < 0 else find(above), "upper": 1 if below(1 - 1e-12) < 0 else find(below), "tolerance": 1e-8,
    }


def plans(rng):
    sd, delta = float(rng.uniform(0.05, 1)), float(rng.uniform(0.01, 0.2))
    p1, p2, psi = float(rng.uniform(0.1, 0.9)), float(rng.uniform(0.1, 0.9)), float(rng.uniform(0.05, 0.5))
    if abs(p1 - p2) < 1e-3 or psi <= delta * delta:
        return plans(rng)
    a, b = stats.norm.isf(0.025), stats.norm.ppf(0.8)
    mean = (p1 + p2) / 2
    return {"sd": sd, "delta": delta, "p1": p1, "p2": p2, "psi": psi}, {
        "paired": math.ceil(((a + b) * sd / delta) ** 2), "non_inferior": math.ceil(((stats.norm.isf(0.05) + b) * sd / delta) ** 2),
        "mcnemar": math.ceil((a * psi**0.5 + b * (psi - delta**2) ** 0.5) ** 2 / delta**2),
        "rates": math.ceil((a * (2 * mean * (1 - mean)) ** 0.5 + b * (p1 * (1 - p1) + p2 * (1 - p2)) ** 0.5) ** 2 / (p1 - p2) ** 2),
    }


def bca(rng):
    """Both sides draw at random: their limits differ by the errors of two
    estimated quantiles, each a small part of a standard error."""
    x = rng.lognormal(0, 0.4, int(rng.choice([20, 50, 80])))
    result = stats.bootstrap((x,), np.mean, n_resamples=10000, method="BCa", random_state=rng)
    ci, se = result.confidence_interval, stats.sem(x)
    return {"rows": rows(x)}, {"lower": ci.low, "upper": ci.high, "absolute": 0.45 * se}


def shrink(rng):
    n = rng.integers(10, 200, int(rng.integers(2, 12)))
    k = rng.binomial(n, np.clip(rng.normal(0.8, rng.choice([0, 0.1]), len(n)), 0, 1))
    m = k.sum() / n.sum()
    if m in (0, 1):
        return shrink(rng)
    p, j = k / n, len(n)
    rho = ((n * (p - m) ** 2).sum() - m * (1 - m) * (j - 1)) / (m * (1 - m) * (n.sum() - (n**2).sum() / n.sum() - (j - 1)))
    if rho <= 0:
        out = np.full(j, m)
    elif rho >= 1:
        out = p
    else:
        strength = (1 - rho) / rho
        out = (k + m * strength) / (n + strength)
    return {"k": k.tolist(), "n": n.tolist()}, {"shrunken": out.tolist()}


CHEAP = [t_quantile, t_test, beta_quantile, binomial_cdf, quantile, mean, epochs, proportion, pass_at_k, order_statistics, paired, mcnemar_test, newcombe_paired, newcombe_independent, welch, beta_binomial, betting, plans, overall, shrink, mean_clustered, pass_rate_clustered, paired_clustered, tango]
DEAR = [adjust, sign_flip, max_t, bca, bounded]


if __name__ == "__main__":
    write({f: 1 for f in CHEAP} | {f: 10 for f in DEAR})
