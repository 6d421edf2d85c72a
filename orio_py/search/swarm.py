"""Particle swarm optimisation: particles fly towards the best place they saw and the best of the swarm.

J. Kennedy and R. Eberhart, "Particle Swarm Optimization", ICNN 1995; with the inertia of Y. Shi and
R. Eberhart, "A Modified Particle Swarm Optimizer", CEC 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, setting


@dataclass(frozen=True, slots=True)
class SwarmOptions:
    """`particles` keep the share `inertia` of their speed and are drawn to their own best place by up to
    `cognitive` and to the swarm's by up to `social` times the way; one that would propose what is known
    makes a random step instead; `restart` rounds with nothing new, or without a new best, end the swarm.
    """

    particles: int = setting(10, IntegerOption(2, 10**6))
    inertia: float = setting(0.5, RealOption(0, 1))
    cognitive: float = setting(1.0, RealOption(0, 10))
    social: float = setting(2.0, RealOption(0, 10))
    restart: int = setting(8, IntegerOption(1, 10**6))


@dataclass(slots=True)
class _Particle:
    place: list[float]
    speed: list[float]
    best: list[float]
    cost: float


def swarm(context: SearchContext, options: SwarmOptions) -> Search:
    """Swarms that fly until they stop finding anything."""
    return restarted(context, partial(fly, options=options))


def fly(memory: Memory, options: SwarmOptions) -> Asking[None]:
    """One swarm."""
    rng = memory.rng
    points = memory.draw_many(options.particles)
    costs = yield from memory.ask(points)
    particles: list[_Particle] = []
    for point, cost in zip(points, costs, strict=True):
        place = list(memory.encoding.coordinates(point))
        speed = [rng.uniform(-0.25, 0.25) for _ in place]
        particles.append(_Particle(place, speed, place, cost))
    idle = 0
    while idle < options.restart:
        leader = min(particles, key=lambda particle: particle.cost)
        least = leader.cost
        for particle in particles:
            _accelerate(memory, particle, leader.best, options)
        points = [memory.near.nearest(particle.place) for particle in particles]
        for i, point in enumerate(points):
            if point in memory.known:
                points[i] = memory.near.mutate(point, 1, rng) or point
        costs = yield from memory.ask(points)
        for particle, point, cost in zip(particles, points, costs, strict=True):
            if cost < particle.cost:
                particle.best, particle.cost = list(memory.encoding.coordinates(point)), cost
        idle = 0 if min(particle.cost for particle in particles) < least else idle + 1


def _accelerate(memory: Memory, particle: _Particle, leader: list[float], options: SwarmOptions) -> None:
    rng = memory.rng
    for i, here in enumerate(particle.place):
        speed = options.inertia * particle.speed[i]
        speed += options.cognitive * rng.random() * (particle.best[i] - here)
        speed += options.social * rng.random() * (leader[i] - here)
        particle.speed[i] = min(max(speed, -0.5), 0.5)
    particle.place = [
        min(max(here + speed, 0.0), 1.0) for here, speed in zip(particle.place, particle.speed, strict=True)
    ]
