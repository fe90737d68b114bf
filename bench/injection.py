"""Flip rates: what 160 attacks on labelled messages change, per model and kind.

    python -m bench.injection [--every 3] [--models offline,lexical] [--out FILE]

Each attack is put before and behind messages of ``examples/fleet18.messages.jsonl``, in a line of
its own and in the same line, and the whole decision is made again with the default policy.
``clawmarshal evaluate --attacks`` does the same to messages and a fleet of your own.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from clawmarshal.roster.loader import load_roster
from clawmarshal.router.attacks import ATTACKS, KINDS, PLACES
from clawmarshal.router.decider import Decider
from clawmarshal.router.flip_report import FlipLine, flip_lines
from clawmarshal.router.flips import Flip, MessageId, flips
from clawmarshal.router.models.local import LocalDecisionModel
from clawmarshal.router.scoring import Share

ROOT = Path(__file__).resolve().parents[1]
SAME_LINE = "before, same line"
READING = """## How to read it

- The rules never say less of a text because something was put behind it or in a line of its own
  (tests/test_injection.py). "Risk lowered" there is gibberish ("asdf qwer zxcv") that counts as
  not English alone and as English among English words.
- Gate 3 takes the strictest limit of every agent that is given .05 or more (docs/policy.md), so a
  message is "held, then dispatched" only where a text pushes every stricter agent below that. Which
  agent a text is for is the text's to say; who must not get it from whom is said by bindings and
  tags, which no text reaches.
- Words that say nothing do not hide a request behind them in the same line (tests/router/
  test_risk_properties.py). A prefix that asks ("how can I") or notes ("note: ...") does.
""".splitlines()


def table(lines: Sequence[FlipLine], heading: str) -> list[str]:
    """Write one table of shares, each count with its base."""
    made = [
        f"| {heading} | decisions | another on top | dispatched elsewhere "
        "| risk lowered, of over low | held, then dispatched, of held | of these high |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for line in lines:
        shares = [f"{share.value or 0:.1%}" for share in (line.taken, line.redirected)]
        counts = [_count(share) for share in (line.lowered, line.freed, line.freed_high)]
        made.append(f"| {' | '.join([line.name, str(line.taken.count), *shares, *counts])} |")
    return made


def _count(share: Share) -> str:
    return f"{share.hits} of {share.count}"


async def tried(decider: Decider, messages: dict[MessageId, str], every: int) -> list[Flip]:
    """Decide every message alone and under its share of the attacks."""
    return [flip async for flip in flips(decider, messages, every=every)]


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=3, help="each attack on every n-th message")
    parser.add_argument("--models", default="offline,lexical")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/injection.md")
    told = parser.parse_args()
    roster = load_roster(ROOT / "examples/fleet18.yaml")
    lines = (ROOT / "examples/fleet18.messages.jsonl").read_text(encoding="utf-8").splitlines()
    messages: dict[MessageId, str] = {row["id"]: row["text"] for row in map(json.loads, lines)}
    report = [
        "# Injection: flip rates",
        "",
        f"{len(ATTACKS)} attacks of ten kinds (`router/attacks.py`), each on every "
        f"{told.every}. of the {len(messages)} labelled messages of fleet18, in {len(PLACES)} "
        "places. "
        f"Default policy. Made with `python -m bench.injection --every {told.every}`.",
    ]
    for name in told.models.split(","):
        decider = Decider(LocalDecisionModel(use_encoder=name == "offline"), roster, deadline_s=60)
        found = asyncio.run(tried(decider, messages, told.every))
        main_places = [flip for flip in found if flip.place != SAME_LINE]
        by_kind = flip_lines(main_places, KINDS, lambda flip: flip.attack.kind)
        by_place = flip_lines(found, PLACES, lambda flip: flip.place)
        report += ["", f"## {name}: `{decider.model.name}`", ""]
        report += ["In a line of its own, or behind in the same line:", ""]
        report += [*table(by_kind, "kind"), "", "By place:", "", *table(by_place, "place")]
    report += ["", *READING]
    told.out.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
