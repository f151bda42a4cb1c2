"""Made-up launches, shaped like what was seen on a noisy machine: the truth behind them is known.

A launch has a factor of its own (30 %), two modes between which it changes seldom (the slow one takes 40 % longer),
noise whose integrated autocorrelation time is 1,000 iterations, drift, and bursts of disturbance.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ITERATIONS = 1000
BURSTS = 10
BASE_NS = 20_000.0
LAUNCH_EFFECT = 0.3
"""Standard deviation of the logarithm of a launch's factor."""
SLOW_FACTOR, SLOW_SHARE, MODE_CHANGE = 1.4, 0.3, 0.002
AUTOCORRELATED = 0.05
AUTOCORRELATION_TIME = 1000
DRIFT = 0.1
DISTURBED_SHARE, DISTURBED_FACTOR, DISTURBED_ITERATIONS = 0.03, 8.0, 20


def inner(noise: np.random.Generator, count: int) -> Floats:
    """Return times in ns, (count, ITERATIONS): of launches whose own factor is 1."""
    # AR(1) with integrated autocorrelation time (1 + phi) / (1 - phi)
    phi = (AUTOCORRELATION_TIME - 1) / (AUTOCORRELATION_TIME + 1)
    steps = noise.normal(0, math.sqrt(1 - phi**2), (count, ITERATIONS))
    steps[:, 0] = noise.normal(0, 1, count)
    logs = AUTOCORRELATED * scipy.signal.lfilter([1.0], [1.0, -phi], steps, axis=1)
    logs += noise.normal(0, DRIFT, (count, 1)) * np.linspace(-0.5, 0.5, ITERATIONS)
    logs += math.log(SLOW_FACTOR) * _slow(noise, count)
    logs += noise.gamma(1.5, 0.02, (count, ITERATIONS))
    begins = noise.random((count, ITERATIONS)) < DISTURBED_SHARE / DISTURBED_ITERATIONS
    disturbed = scipy.signal.lfilter(np.ones(DISTURBED_ITERATIONS), [1.0], begins.astype(float), axis=1) > 0
    return np.asarray(BASE_NS * np.exp(logs + math.log(DISTURBED_FACTOR) * disturbed))


def launches(noise: np.random.Generator, count: int, effect: float = LAUNCH_EFFECT) -> Floats:
    """Return times in ns, (count, ITERATIONS), every launch with its factor."""
    return inner(noise, count) * np.exp(noise.normal(0, effect, (count, 1)))


def values(times: Floats) -> Floats:
    """Return the value of each launch: the median over the medians of its bursts, as values/launch_values.py."""
    bursts = times.reshape(len(times), BURSTS, ITERATIONS // BURSTS)
    return np.asarray(np.median(np.median(bursts, axis=2), axis=1))


def true_value_ns(noise: np.random.Generator, count: int = 5000) -> float:
    """Return what the median over ever more launches comes to."""
    logs = np.concatenate([np.log(values(inner(noise, 500))) for _ in range(count // 500)])
    return math.exp(float(np.median(logs[:, None] + noise.normal(0, LAUNCH_EFFECT, (len(logs), 200)))))


def _slow(noise: np.random.Generator, count: int) -> Floats:
    """Return 1 where a launch is in its slow mode, else 0: a chain with two states."""
    slow = np.empty((count, ITERATIONS))
    slow[:, 0] = noise.random(count) < SLOW_SHARE
    chances = noise.random((count, ITERATIONS))
    leave = {1.0: MODE_CHANGE * (1 - SLOW_SHARE), 0.0: MODE_CHANGE * SLOW_SHARE}
    for at in range(1, ITERATIONS):
        now = slow[:, at - 1]
        changes = chances[:, at] < np.where(now == 1, leave[1.0], leave[0.0])
        slow[:, at] = np.where(changes, 1 - now, now)
    return slow
