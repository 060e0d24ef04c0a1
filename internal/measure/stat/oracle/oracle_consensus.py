"""Computes with crowd-kit, scipy and numpy what package consensus must compute.

    oracle_consensus.py [--seed N] [--cases N] > cases

Crowd-kit smooths nothing. Smoothed models are computed here vote by vote, and what
leaves one annotator or one item out is computed anew for each.
"""

import os
import sys
import types

import crowdkit
import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from cases import write

# The package as a whole asks for language models; the part for labels does not.
aggregation = types.ModuleType("crowdkit.aggregation")
aggregation.__path__ = [os.path.join(crowdkit.__path__[0], "aggregation")]
sys.modules["crowdkit.aggregation"] = aggregation

from crowdkit.aggregation.classification import DawidSkene, MajorityVote, OneCoinDawidSkene  # noqa: E402


def crowd(rng, items=None):
    """Votes of annotators of different skill: a row for each item, -1 where there
    is none. Every item has a vote, and every label is used."""
    while True:
        n, annotators, k = items or int(rng.integers(3, 40)), int(rng.integers(2, 7)), int(rng.integers(2, 5))
        truth = rng.choice(k, n, p=rng.dirichlet(np.full(k, rng.choice([1, 5]))))
        skill = rng.uniform(0.4, 1, annotators)
        votes = np.where(rng.random((n, annotators)) < skill, truth[:, None], rng.integers(0, k, (n, annotators)))
        votes[rng.random(votes.shape) < rng.choice([0, 0.3])] = -1
        if (votes >= 0).any(1).all() and (votes >= 0).any(0).all() and set(votes[votes >= 0]) == set(range(k)):
            return votes, k


def experts(rng, votes, k):
    """Labels of the items that an expert decided, -1 for others."""
    return np.where(rng.random(len(votes)) < rng.choice([0, 0.2]), rng.integers(0, k, len(votes)), -1)


def frame(votes):
    i, j = np.nonzero(votes >= 0)
    return pd.DataFrame({"task": i, "worker": j, "label": votes[i, j]})


def rounds(rng):
    return int(rng.integers(1, 5))


def dawid_skene(rng):
    votes, k = crowd(rng)
    truth, n = experts(rng, votes, k), rounds(rng)
    known = pd.Series(truth[truth >= 0], index=np.nonzero(truth >= 0)[0])
    m = DawidSkene(n_iter=n, tol=-np.inf).fit(frame(votes), known if len(known) else None)
    post = m.probas_.sort_index()[list(range(k))].to_numpy()
    return {"votes": votes, "labels": k, "truth": truth, "rounds": n}, {"post": post.flatten(), "prior": m.priors_[0], "absolute": 1e-7}


def one_coin(rng):
    votes, k = crowd(rng)
    n = rounds(rng)
    m = OneCoinDawidSkene(n_iter=n, tol=-np.inf).fit(frame(votes))
    post = m.probas_.sort_index()[list(range(k))].to_numpy()
    given = {"votes": votes, "labels": k, "truth": np.full(len(votes), -1), "rounds": n}
    return given, {"post": post.flatten(), "skill": m.skills_[0], "skills": m.skills_.sort_index().to_numpy(), "absolute": 1e-7}


def majority(rng):
    votes, k = crowd(rng)
    shares = MajorityVote().fit_predict_proba(frame(votes)).sort_index().reindex(columns=range(k), fill_value=0).to_numpy()
    prior = (shares.sum(0) + 1) / (len(votes) + k)
    n = (votes >= 0).sum(1)[:, None]
    return {"votes": votes, "labels": k}, {"post": ((shares * n + prior) / (n + 1)).flatten(), "prior": prior[0]}


def smooth(votes, k, truth, coin):
    """Dawid and Skene's model, smoothed, vote by vote."""
    fixed = np.nonzero(truth >= 0)[0]

    def clamp(p):
        p[fixed] = 0
        p[fixed, truth[fixed]] = 1
        return p

    post = clamp(np.array([[(row == c).sum() / (row >= 0).sum() for c in range(k)] for row in votes]))
    for _ in range(500):
        prior = (post.sum(0) + 1) / (len(votes) + k)
        theta = []
        for own in votes.T:
            m = np.ones((k, k)) + np.eye(k)
            for i, y in enumerate(own):
                if y >= 0:
                    m[:, y] += post[i]
            if coin:
                right = sum(post[i, y] for i, y in enumerate(own) if y >= 0)
                skill = (right + 2) / ((own >= 0).sum() + 2 + k - 1)
                m = np.full((k, k), (1 - skill) / (k - 1))
                np.fill_diagonal(m, skill)
            theta.append(m / m.sum(1, keepdims=True))
        theta = np.array(theta)
        logs = np.array([np.log(prior) + sum(np.log(theta[j][:, y]) for j, y in enumerate(row) if y >= 0) for row in votes])
        new = np.exp(logs - logs.max(1, keepdims=True))
        new = clamp(new / new.sum(1, keepdims=True))
        done = abs(new - post).max() < 1e-10
        post = new
        if done:
            break
    return post, prior, theta


def smoothed(rng):
    votes, k = crowd(rng, items=int(rng.integers(3, 20)))
    truth, coin = experts(rng, votes, k), bool(rng.random() < 0.5)
    post, prior, theta = smooth(votes, k, truth, coin)
    accuracy = [(prior * np.diag(m)).sum() for m in theta]
    # What a vote tells about the label: the divergence of the joint distribution
    # from independence.
    bits = []
    for m in theta:
        joint = prior[:, None] * m
        bits.append(stats.entropy(joint.flatten(), np.outer(joint.sum(1), joint.sum(0)).flatten(), base=2))
    given = {"votes": votes, "labels": k, "truth": truth, "coin": coin}
    entropy = stats.entropy(post, axis=1, base=2)
    return given, {"post": post.flatten(), "prior": prior[0], "accuracy": accuracy, "bits": bits, "entropy": entropy, "absolute": 1e-6}


def glad(rng):
    """Skill and difficulty, with scipy's optimizer."""
    votes, k = crowd(rng, items=int(rng.integers(5, 12)))
    i, j = np.nonzero(votes >= 0)
    y, n = votes[i, j], votes.shape[1]
    x = np.ones(n + len(votes))

    def expect(x):
        z = x[j] * np.exp(x[n + i])
        logs = np.zeros((len(votes), k))
        for c in range(k):
            np.add.at(logs, (i, c), np.where(y == c, special.log_expit(z), special.log_expit(-z) - np.log(k - 1)))
        return special.softmax(logs, axis=1)

    def loss(x, right):
        z = x[j] * np.exp(x[n + i])
        d = special.expit(z) - right
        grad = x - 1
        np.add.at(grad, j, d * np.exp(x[n + i]))
        np.add.at(grad, n + i, d * z)
        return ((x - 1) ** 2).sum() / 2 - (right * special.log_expit(z) + (1 - right) * special.log_expit(-z)).sum(), grad

    post, rounds = expect(x), 5
    for _ in range(rounds):
        x = optimize.minimize(loss, x, (post[i, y],), jac=True, method="BFGS", options={"gtol": 1e-9}).x
        post = expect(x)
    return {"votes": votes, "labels": k, "rounds": rounds}, {"post": post.flatten(), "skill": x[0], "absolute": 1e-5}


def peers(rng):
    """Each annotator's votes against the posterior without them."""
    votes, k = crowd(rng, items=int(rng.integers(12, 25)))
    truth = np.full(len(votes), -1)
    _, prior, theta = smooth(votes, k, truth, False)
    out = {"absolute": 1e-6}
    for j in range(votes.shape[1]):
        said, right, wrong = [], [], []
        for i, row in enumerate(votes):
            others = [a for a in range(len(row)) if a != j and row[a] >= 0]
            if row[j] < 0 or not others:
                continue
            p = prior * np.prod([theta[a][:, row[a]] for a in others], axis=0)
            p /= p.sum()
            said.append(p[row[j]])
            right.append((p**2).sum())
            wrong.append((1 - (p**2).sum()) / (k - 1))
        said, right, wrong = map(np.array, (said, right, wrong))
        if len(said) < 10 or (right - wrong).sum() < 0.1 * len(said):
            continue
        a = (said - wrong).sum() / (right - wrong).sum()
        out[f"value{j}"] = min(1, max(0, a))
        residual = said - wrong - a * (right - wrong)
        out[f"se{j}"] = np.sqrt((residual**2).sum() * len(said) / (len(said) - 1)) / (right - wrong).sum()
    if len(out) == 1:
        return peers(rng)
    return {"votes": votes, "labels": k}, out


def variety(rng):
    """Entropies, and the jackknife of their difference, each item left out."""
    votes, k = crowd(rng, items=int(rng.integers(20, 40)))
    out = {"tolerance": 1e-8}
    for j in range(votes.shape[1]):
        rest = np.delete(votes, j, 1)
        shared = (votes[:, j] >= 0) & (rest >= 0).any(1)
        if shared.sum() < 20:
            continue

        def entropies(keep):
            count = lambda x: stats.entropy([(x == c).sum() for c in range(k)], base=2)
            return count(votes[keep, j]), count(rest[keep])

        out[f"own{j}"], out[f"peers{j}"] = entropies(shared)
        left = []
        for i in np.nonzero(shared)[0]:
            keep = shared.copy()
            keep[i] = False
            left.append(np.subtract(*entropies(keep)))
        se = np.sqrt((len(left) - 1) / len(left) * ((left - np.mean(left)) ** 2).sum())
        if se > 1e-6:
            half = stats.t.isf(0.025, len(left) - 1) * se
            out[f"lower{j}"], out[f"upper{j}"] = out[f"own{j}"] - out[f"peers{j}"] - half, out[f"own{j}"] - out[f"peers{j}"] + half
    if len(out) == 1:
        return variety(rng)
    return {"votes": votes, "labels": k}, out


def gold(rng):
    n = int(rng.integers(10, 60))
    correct = int(rng.binomial(n, rng.choice([0.5, 0.8, 0.95, 1])))
    posterior = stats.beta(correct + 0.5, n - correct + 0.5)
    lower, upper = posterior.ppf([0.025, 0.975])
    if correct == n:
        upper = 1
    if correct == 0:
        lower = 0
    return {"correct": correct, "items": n}, {"mean": posterior.mean(), "se": posterior.std(), "lower": lower, "upper": upper, "tolerance": 1e-8}


if __name__ == "__main__":
    # Crowd-kit takes a tenth of a second for a case, and so does what is computed
    # anew for each item.
    write({dawid_skene: 20, one_coin: 20, majority: 5, smoothed: 20, glad: 20, peers: 40, variety: 10, gold: 1})
