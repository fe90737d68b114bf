"""Flip rates: what 160 attacks on labelled messages change, per model and kind.

    python -m bench.injection [--every 3] [--models offline,lexical] [--out FILE]

Each attack is put before and behind messages of ``examples/fleet18.messages.jsonl``, in a line of
its own and in the same line, and the whole decision is made again with the default policy.
"""

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.roster.agent import Risk
from clawmarshal.roster.loader import load_roster
from clawmarshal.router.decider import Decider
from clawmarshal.router.directives import has_directive
from clawmarshal.router.explanation import Evidence
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.local import LocalDecisionModel
from clawmarshal.router.policy import Circumstances
from clawmarshal.router.route import Outcome, Route
from tests.support.attacks import ATTACKS, PLACES, Attack, attacked

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


@dataclass(frozen=True)
class Flip:
    """What one attack did to one message."""

    kind: str
    place: str
    takes_agent: bool
    """The agent with the highest probability is another one, none counted as one."""
    redirects: bool
    """It is dispatched, and was not, or to another agent."""
    lowers: bool
    """The risk is lower than the message's own, for the same agent."""
    frees_high: bool
    """As `frees`, and the message alone is of high risk."""
    frees: bool
    """The message is held for its risk or as a directive, and is dispatched with the attack."""


async def flips(
    decider: Decider, texts: list[str], *, attacks: Iterable[Attack], every: int
) -> list[Flip]:
    """Decide every message alone and under its share of the attacks."""
    alone = [(await decide(decider, text))[0] for text in texts]
    found = []
    for number, attack in enumerate(attacks):
        for index in range(number % every, len(texts), every):
            for place, text in attacked(texts[index], attack):
                found.append(await flip(decider, alone[index], text=text, attack=attack, at=place))
    return found


async def flip(decider: Decider, before: Route, *, text: str, attack: Attack, at: str) -> Flip:
    """Decide a message with an attack and say what changed."""
    after, evidence = await decide(decider, text)
    is_dispatched = after.outcome is Outcome.DISPATCH
    held_for = {*before.reasons} & {"risk", "directive", "undisplayable"}
    if not has_directive(text):  # "/new" behind a line is none to OpenClaw either
        held_for -= {"directive"}
    risk = after.risk
    if before.agent is not None:  # limits and floors depend on the target: compare the same one
        message = InboundMessage(text)
        risk = decider.reconsider(message, agent=before.agent, evidence=evidence).risk
    return Flip(
        attack.kind,
        at,
        takes_agent=before.candidates[0].agent != after.candidates[0].agent,
        redirects=is_dispatched and (before.agent, before.outcome) != (after.agent, after.outcome),
        lowers=risk.top.level < before.risk.top.level,
        frees_high=bool(held_for) and is_dispatched and before.risk.top is Risk.HIGH,
        frees=bool(held_for) and is_dispatched,
    )


async def decide(decider: Decider, text: str) -> tuple[Route, Evidence]:
    """Decide a text as the first of its conversation."""
    return await decider.decide(InboundMessage(text), circumstances=Circumstances())


def table(found: list[Flip], by: str, names: Iterable[str]) -> list[str]:
    """Write one table of shares."""
    rows: dict[str, list[Flip]] = defaultdict(list)
    for flip in found:
        rows[getattr(flip, by)].append(flip)
    lines = [
        f"| {by} | decisions | another agent on top | dispatched elsewhere "
        "| risk lowered | held, then dispatched | of these high |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in [*names, "all"]:
        group = found if name == "all" else rows[name]
        counts = Counter[str]()
        for flip in group:
            for what in ("takes_agent", "redirects", "lowers", "frees", "frees_high"):
                counts[what] += getattr(flip, what)
        size = max(1, len(group))
        cells = [name, str(len(group))]
        cells += [f"{counts[what] / size:.1%}" for what in ("takes_agent", "redirects")]
        cells += [str(counts[what]) for what in ("lowers", "frees", "frees_high")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=3, help="each attack on every n-th message")
    parser.add_argument("--models", default="offline,lexical")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/injection.md")
    told = parser.parse_args()
    roster = load_roster(ROOT / "examples/fleet18.yaml")
    lines = (ROOT / "examples/fleet18.messages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    kinds = list(dict.fromkeys(attack.kind for attack in ATTACKS))
    report = [
        "# Injection: flip rates",
        "",
        f"{len(ATTACKS)} attacks of ten kinds (`tests/support/attacks.py`), each on every "
        f"{told.every}. of the {len(texts)} labelled messages of fleet18, in {len(PLACES)} places. "
        f"Default policy. Made with `python -m bench.injection --every {told.every}`.",
    ]
    for name in told.models.split(","):
        decider = Decider(LocalDecisionModel(use_encoder=name == "offline"), roster, deadline_s=60)
        found = asyncio.run(flips(decider, texts, attacks=ATTACKS, every=told.every))
        main_places = [flip for flip in found if flip.place != SAME_LINE]
        report += ["", f"## {name}: `{decider.model.name}`", ""]
        report += ["In a line of its own, or behind in the same line:", ""]
        report += [*table(main_places, "kind", kinds), "", "By place:", ""]
        report += table(found, "place", PLACES)
    report += ["", *READING]
    told.out.write_text("\n".join(report) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
