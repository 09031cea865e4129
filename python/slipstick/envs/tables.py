"""The tables of docs/guide/environments.md: `python -m slipstick.envs` prints them."""

from __future__ import annotations

from .registry import RULES, make_spec
from .spec import Spec


def tables() -> dict[str, str]:
    """Markdown of all tasks, by their rules."""
    return {rules: "\n\n".join(_page(make_spec(name, reward=rules)) for name in RULES[rules]) for rules in RULES}


def _page(spec: Spec) -> str:
    observation = ", ".join(f"{name} ({size})" if size > 1 else name for name, size in spec.observations)
    rows = {
        "robot": f"`{spec.model}`: {spec.robot.nv} degrees of freedom",
        "clock": f"{spec.length} control steps of {1e3 * spec.period:.3g} ms, {spec.hold} engine steps each",
        "actions": _actions(spec),
        "observation": f"{spec.observation_size}: {observation}",
        "reward": "; ".join(f"{name}: {formula}" for name, formula in spec.rewards.items()),
        "ends early": spec.ends,
        "starts": spec.starts,
    }
    body = "\n".join(f"| {name} | {text.replace('|', chr(92) + '|')} |" for name, text in rows.items())
    return f"**`{spec.name}`** (version {spec.version}): {spec.description}\n\n| | |\n|---|---|\n{body}"


def _actions(spec: Spec) -> str:
    model = spec.robot
    servos = any(model.actuator(k).bias.any() for k in range(model.nu))
    unit = f"servo targets, home ± {spec.action_scale:g} rad" if servos else f"controls, scale {spec.action_scale:g}"
    return f"{spec.action_size} in [−1, 1]: {unit}"
