import pytest

from clawmarshal.errors import RosterSchemaError
from clawmarshal.roster.loader import parse_roster

GOOD = "- id: home\n  description: Lights, heating.\n"


def faults_of(text: str) -> list[str]:
    with pytest.raises(RosterSchemaError) as caught:
        parse_roster(text, source="fleet.yaml")
    assert str(caught.value).startswith("fleet.yaml: ")
    return [str(fault) for fault in caught.value.faults]


def faults_of_agent(lines: str) -> list[str]:
    """Return the faults of a file whose second agent, from line 4 on, has these lines."""
    return faults_of(f"agents:\n{GOOD}- {lines}\n")


TEXT = "a text of 1 to 4000 characters, not blank"
LINE = "one line of 1 to 200 characters"
ORIGIN = "one line of 1 to 512 characters"
ID = "id must be a lower-case text that matches ^[a-z0-9][a-z0-9_-]{0,63}$"
NO_MATCH = "the id does not match ^[a-z0-9][a-z0-9_-]{0,63}$"
FILE = "1, column 1: the file must be a mapping with the field agents"
AGENTS = "agents must be a list of 1 to 10,000 agents"
AGENT = "it must be a mapping with the fields id and description"
SLUG = "a slug: 1 to 64 lower-case letters, digits, '_', '.' or '-'"
WHOLE = "timeout_s must be a whole number from 1 to 3600"
BLANK = "; nothing is written there"
OWN = "your own notes begin with x-"


def truth(written: str) -> str:
    return f"; YAML reads '{written}' as a truth value: put it in quotes"


def number(written: str) -> str:
    return f"; YAML reads '{written}' as a number: put it in quotes"


def odd(written: str) -> str:
    mend = "put it in quotes, or write a plain decimal number"
    return f"YAML reads '{written}' as a number: {mend}"


def date(written: str) -> str:
    return f"YAML reads '{written}' as a date: put it in quotes"
