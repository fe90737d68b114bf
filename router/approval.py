"""Which gates an approval would answer, and whether a reviewer was shown all of them; pure."""

from collections.abc import Mapping

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger.records import HoldRecord
from clawmarshal.router.policy import Verdict
from clawmarshal.router.route import Gate, Reason

UNWAIVABLE = (Reason.UNDISPLAYABLE, Reason.AGENT_UNAVAILABLE)
"""Gates that no approval answers: the reviewer cannot see the text, or nobody can get it."""


def answered_gates(
    hold: HoldRecord, *, target: str, verdict: Verdict
) -> tuple[tuple[Mapping[str, object], ...], bool]:
    """List the gates that an approval for this target answers.

    Parameters
    ----------
    hold
        Open.
    target
        The agent it would be approved for.
    verdict
        Gates 3 to 9 for that target, as things stand now.

    Returns
    -------
    tuple
        The gates, and True when one of them was not shown with the hold.

    Raises
    ------
    ConflictError
        ``not-waivable``.
    """
    for gate in verdict.gates:
        if gate.reason in UNWAIVABLE:
            raise ConflictError(gate.detail, code="not-waivable", detail={"agent": target})
    shown = {gate["reason"] for gate in hold.gates}
    fresh = tuple(_as_json(gate) for gate in verdict.gates if gate.reason not in shown)
    # What was shown is answered too, even where it no longer fires: it only adds to the record.
    return (*hold.gates, *fresh), bool(fresh)


def _as_json(gate: Gate) -> Mapping[str, object]:
    return {"number": gate.number, "reason": str(gate.reason), "detail": gate.detail}
