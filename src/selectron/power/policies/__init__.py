"""Power-saving policies, and their names on the command line."""

from selectron.power.policies.fixed import AlwaysOn, BoundedSlowdown, StaticPsm
from selectron.power.policies.lpsm import Lpsm, lpsm_inverse_log
from selectron.power.policies.policy import Policy


def standard_policies() -> tuple[Policy, ...]:
    """Return the policies of [Mon06], Figures 2-6 and 2-7, and no power saving."""
    bounded = tuple(BoundedSlowdown(p) for p in (1.0, 0.5, 0.2, 0.1))
    return (AlwaysOn(), StaticPsm(), Lpsm(), lpsm_inverse_log(), *bounded)


def named_policy(name: str) -> Policy:
    """Find a policy by the name it has in tables.

    Examples
    --------
    >>> named_policy("bsd-50")
    BoundedSlowdown(p=0.5, cap_s=0.9)
    """
    policies = {policy.name: policy for policy in standard_policies()}
    if name not in policies:
        raise ValueError(f"there is no policy {name!r}; choose one of {', '.join(policies)}")
    return policies[name]
