"""Workloads for the tests, strategies that make them up, and the policies that run on them."""

from dataclasses import replace

import pytest
from hypothesis import strategies as st
from numba import config

from selectron.power import Fetch, Lpsm, Page, Policy, Workload, standard_policies

needs_compiler = pytest.mark.skipif(
    bool(config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT: Learn-α uncompiled would take hours"
)


def quick_policies() -> tuple[Policy, ...]:
    """Give the standard policies, with fewer switching rates when nothing is compiled."""
    if not config.DISABLE_JIT:
        return standard_policies()
    return tuple(
        replace(policy, horizon=10) if isinstance(policy, Lpsm) else policy
        for policy in standard_policies()
    )


# From 2 bytes: ns-2's FullTcp never sends an answer of a single byte by itself.
sizes = st.one_of(st.integers(2, 5000), st.sampled_from([1459, 1460, 1461, 2920, 2921, 60_000]))
delays = st.one_of(st.just(0.0), st.integers(0, 400).map(lambda ms: ms / 1000))
fetches = st.builds(Fetch, request=st.integers(2, 3000), reply=sizes, delay_s=delays)
pages = st.builds(
    Page,
    think_s=st.integers(0, 9000).map(lambda ms: ms / 1000),
    fetches=st.lists(fetches, min_size=1, max_size=6).map(tuple),
)
workloads = st.lists(pages, min_size=1, max_size=5).map(lambda drawn: Workload(tuple(drawn)))


def one_fetch(request: int, reply: int, delay_s: float = 0.0, think_s: float = 1.0) -> Workload:
    return Workload((Page(think_s, (Fetch(request, reply, delay_s),)),))
