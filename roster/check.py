"""What makes a ballot unroutable: thin, overlapping or duplicate remits."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.roster.roster import Roster

MIN_REMIT_WORDS = 5
"""Below this many telling words a remit costs accuracy whatever the model."""
MIN_EXAMPLES = 4
MIN_SHARED_WORDS = 3
OVERLAP_SHARE = 0.6
"""Of the smaller remit's telling words."""
COMMON_IN = 50
"""A word in more remits than this tells none apart, and its pairs would be quadratic."""
WORD = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset(
    "a about after all an and any are as at be before by can do does etc for from has have how i "
    "in into is it its like may me more my no not of on or our out own over per so such than that "
    "the their them then there these they this those to under up us via was we what when where "
    "which who will with you your handle everything anything other related agent".split()
)


class WarningCode(StrEnum):
    """What a warning is about."""

    THIN_REMIT = "thin-remit"
    DUPLICATE_REMIT = "duplicate-remit"
    OVERLAPPING_REMITS = "overlapping-remits"
    UNGUARDED_CAPABILITY = "unguarded-capability"
    SHARED_EXAMPLE = "shared-example"
    FEW_EXAMPLES = "few-examples"


@dataclass(frozen=True, slots=True)
class RosterWarning:
    """One thing that will make messages go astray, or go unseen."""

    code: WarningCode
    agents: tuple[str, ...]
    """The ids it is about, in canonical order; at least one."""
    message: str
    """One sentence for a person, with the mend."""


def check_roster(roster: Roster) -> tuple[RosterWarning, ...]:
    """List what an operator had better change, without judging any message.

    A warning never stops a roster from being used. The result depends on the roster alone; the
    order is by code, then by agents.

    Parameters
    ----------
    roster
        Any size. Words that stand in more than 50 remits are passed over, which bounds the time.
    """
    found = [warning for agent in roster for warning in _about_one(agent)]
    found += itertools.chain(_duplicates(roster), _overlaps(roster), _shared_examples(roster))
    return tuple(sorted(found, key=lambda warning: (warning.code, warning.agents)))


def _about_one(agent: AgentSpec) -> Iterator[RosterWarning]:
    count = len(telling_words(agent.description))
    if count < MIN_REMIT_WORDS:
        yield RosterWarning(
            WarningCode.THIN_REMIT,
            (agent.id,),
            f"the remit of {agent.id} has {count} telling words; name what it does in several "
            "concrete clauses",
        )
    if 0 < len(agent.examples) < MIN_EXAMPLES:
        yield RosterWarning(
            WarningCode.FEW_EXAMPLES,
            (agent.id,),
            f"{agent.id} has {len(agent.examples)} examples; give five or more, or none",
        )
    if agent.capabilities and agent.max_risk is Risk.HIGH:
        yield RosterWarning(
            WarningCode.UNGUARDED_CAPABILITY,
            (agent.id,),
            f"{agent.id} can act ({', '.join(agent.capabilities)}) and its max_risk is high: its "
            "risk is never looked at by a person; lower max_risk or take the capability away",
        )


def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that tell remits apart, folded and without plural endings."""
    words = (word.casefold() for word in WORD.findall(text))
    return frozenset(_singular(word) for word in words if word not in STOP_WORDS and len(word) > 1)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _folded(text: str) -> str:
    return " ".join(word.casefold() for word in WORD.findall(text)) or text.strip()


def _duplicates(roster: Roster) -> Iterator[RosterWarning]:
    for ids in _groups((_folded(agent.description), agent.id) for agent in roster):
        yield RosterWarning(
            WarningCode.DUPLICATE_REMIT,
            ids,
            f"{_listed(ids)} have the same remit; no model can tell them apart",
        )


def _shared_examples(roster: Roster) -> Iterator[RosterWarning]:
    examples = ((_folded(text), agent.id) for agent in roster for text in agent.examples)
    for ids in dict.fromkeys(_groups(examples)):
        yield RosterWarning(
            WarningCode.SHARED_EXAMPLE,
            ids,
            f"{_listed(ids)} share an example; leave it with the one that owns it",
        )


def _groups(keyed: Iterator[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    """Yield the ids that stand under one key, where there are several."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key, agent_id in keyed:
        groups[key].append(agent_id)
    for ids in groups.values():
        distinct = tuple(dict.fromkeys(ids))
        if len(distinct) > 1:
            yield distinct


def _overlaps(roster: Roster) -> Iterator[RosterWarning]:
    words = {agent.id: _owned_words(agent) for agent in roster}
    remits = {agent.id: _folded(agent.description) for agent in roster}
    for (one, other), shared in sorted(_shared_counts(words).items()):
        smaller = min(len(words[one]), len(words[other]))
        if shared < max(MIN_SHARED_WORDS, OVERLAP_SHARE * smaller) or remits[one] == remits[other]:
            continue
        common = ", ".join(sorted(words[one] & words[other])[:5])
        yield RosterWarning(
            WarningCode.OVERLAPPING_REMITS,
            (one, other),
            f"the remits of {one} and {other} share {shared} of {smaller} telling words "
            f"({common}); say in not_for where one ends",
        )


def _owned_words(agent: AgentSpec) -> frozenset[str]:
    """Leave out what the agent says it is not for: that border is drawn already."""
    return telling_words(agent.description) - telling_words(" ".join(agent.not_for))


def _shared_counts(words: dict[str, frozenset[str]]) -> Counter[tuple[str, str]]:
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for agent_id, own in words.items():
        for word in own:
            holders[word].append(agent_id)
    counts: Counter[tuple[str, str]] = Counter()
    for ids in holders.values():
        if len(ids) <= COMMON_IN:
            counts.update(itertools.combinations(ids, 2))
    return counts


def _listed(ids: tuple[str, ...]) -> str:
    shown = ", ".join(ids[:5])
    return f"{shown} and {len(ids) - 5} more" if len(ids) > 5 else shown
