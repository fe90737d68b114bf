"""``route``: decide one message without a service."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Encoder, Head, Json, Model, RosterFile, TermsFile
from clawmarshal.api.commands.terminal import fields, say, say_json, usage

if TYPE_CHECKING:
    from clawmarshal.router.route import Route


def route(
    *,
    roster: RosterFile,
    text: Annotated[str | None, typer.Argument(help="The message.", show_default=False)] = None,
    text_file: Annotated[
        Path | None,
        typer.Option("--text-file", help="Read the message from a file; - for standard input."),
    ] = None,
    model: Model = None,
    config: TermsFile = None,
    head: Head = None,
    encoder: Encoder = None,
    json: Json = False,
) -> None:
    """Decide which agent should get a message, and say why; launches nothing.

    Exit 0 when decided, whatever the outcome.

    Example: clawmarshal route --roster examples/fleet18.yaml "Which invoices are unpaid?"
    """
    if (text is None) == (text_file is None):
        usage("give the message as TEXT or with --text-file, one of them")
    # Imported here: each takes a while, and --help needs none of it.
    from clawmarshal.api.choosing import chosen_fallback, chosen_model, fallback_terms, terms_of
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router.message import InboundMessage
    from clawmarshal.router.openclaw_router import OpenClawRouter
    from clawmarshal.router.route import route_json

    fleet = load_roster(roster)
    message = InboundMessage(text if text is not None else _read(text_file))
    terms = terms_of(config, fleet)
    asked = chosen_model(model, terms=terms, head=head, encoder=encoder)
    fallback = chosen_fallback(model, terms=terms)
    with OpenClawRouter(
        asked,
        fleet,
        policy=terms.policy,
        fallback=fallback,
        fallback_policy=fallback_terms(terms),
        deadline_s=terms.deadline_s,
    ) as router:
        decided = router.route(message)
    if json:
        say_json(route_json(decided))
    else:
        _show(decided)


def _show(decided: "Route") -> None:
    fields(
        {
            "outcome": decided.outcome,
            "agent": decided.agent,
            "reason": ", ".join(decided.reasons),
            "via": decided.via,
            "confidence": f"{decided.confidence:.2f} (margin {decided.margin:.2f})",
            "risk": decided.risk.top,
            "model": ", ".join([decided.model or "-", *decided.notes]),
        }
    )
    for gate in decided.gates:
        say(f"  gate {gate.number}: {gate.detail}")
    for candidate in decided.candidates[:5]:
        say(f"  {candidate.probability:5.2f}  {candidate.agent}")


def _read(path: Path | None) -> str:
    from clawmarshal.errors import MessageError
    from clawmarshal.router.message import DEFAULT_TEXT_BYTES, decoded_text

    if path is None or str(path) == "-":
        return decoded_text(sys.stdin.buffer.read(DEFAULT_TEXT_BYTES + 1))
    try:
        with path.open("rb") as file:
            return decoded_text(file.read(DEFAULT_TEXT_BYTES + 1))
    except OSError as error:
        mend = "name a readable file with --text-file"
        raise MessageError(f"{path} cannot be read ({error.strerror}); {mend}") from error
