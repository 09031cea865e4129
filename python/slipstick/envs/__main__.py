"""`python -m slipstick.envs`: what the tasks are."""

from .tables import tables

for rules, text in tables().items():
    print(f"### {rules}\n\n{text}\n")
