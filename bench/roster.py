"""How long a roster of 1,000 agents takes to load, beside a bare parse of the same YAML.

    python bench/roster.py

Prints CPU seconds (the best of five, interleaved) and their ratio.
"""

import time
from collections.abc import Callable

import yaml

from clawmarshal.roster.loader import parse_roster

AGENTS = 1000
ROUNDS = 5


def main() -> None:
    """Measure both in turn and print the figures."""
    text = "agents:\n" + "".join(
        f"- id: agent-{number}\n  description: Handles case {number}, its papers, its replies.\n"
        "  examples: [one, two, three, four, five]\n"
        for number in range(AGENTS)
    )

    def bare() -> None:
        yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def ours() -> None:
        parse_roster(text, source="bench")

    pairs = [(cpu_seconds(bare), cpu_seconds(ours)) for _ in range(ROUNDS)]
    least_bare = min(pair[0] for pair in pairs)
    least_ours = min(pair[1] for pair in pairs)
    print(f"{AGENTS} agents: bare YAML {least_bare:.3f} s, roster {least_ours:.3f} s")
    print(f"ratio {least_ours / least_bare:.2f}")


def cpu_seconds(work: Callable[[], None]) -> float:
    """Return the CPU time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
