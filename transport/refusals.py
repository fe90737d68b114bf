"""Which words of the CLI prove that a turn certainly did not run; exact, per version; pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way in which the CLI gives up before the Gateway accepted anything."""

    begins: str
    """The message begins with exactly this."""
    code: str
    """Our stable slug."""
    mend: str
    """What an operator can do, one sentence."""


_2026_9_6 = (
    Refusal("Unknown agent id ", "unknown-agent", "Add the agent to OpenClaw or mend its id."),
    Refusal("Gateway not reachable at ", "gateway-down", "Start the Gateway."),
    Refusal(
        "unauthorized: gateway token mismatch",
        "gateway-unauthorized",
        "Put the Gateway's token into the client config.",
    ),
    Refusal("OpenClaw config is invalid: ", "config-invalid", "Mend the client config."),
    Refusal("JSON5: invalid ", "config-invalid", "Mend the client config."),
    Refusal("gateway url override requires", "environment", "Take OPENCLAW_GATEWAY_URL away."),
    Refusal("Gateway agent from agent exec would", "environment", "Take OPENCLAW_SHELL away."),
    Refusal("A Gateway is running for this state", "state-busy", "Do not use --local."),
    Refusal("Message file not found: ", "message-file", "Look at the temporary directory."),
    Refusal("Message file is empty: ", "message-file", "Send a text that is not blank."),
    Refusal("Message file must be valid UTF-8: ", "message-file", "Send UTF-8."),
    Refusal("Unable to read message file ", "message-file", "Lower transport.max_text_bytes."),
    Refusal("Invalid --timeout.", "argument", "Report this: the argv is ours."),
    Refusal("--agent must not be blank", "argument", "Report this: the argv is ours."),
    Refusal("Multiple agents are configured, but", "argument", "Report this: the argv is ours."),
    Refusal("OpenClaw does not recognize option", "argument", "Use a tested OpenClaw version."),
    Refusal('Agent id "', "argument", "Report this: the argv is ours."),
)

TABLE: dict[str, tuple[Refusal, ...]] = {"2026.9.6": _2026_9_6}
"""By CLI version. A version that is not here proves nothing: its failures are unknown."""

_DOUBT = ("already sent to the gateway", "outcome is unknown", "may have been applied")


def find_refusal(version: str | None, message: object) -> Refusal | None:
    """Return the row that proves the turn did not run, or None: then nothing is proven."""
    if not isinstance(message, str) or any(doubt in message for doubt in _DOUBT):
        return None
    rows = TABLE.get(version or "", ())
    return next((row for row in rows if message.startswith(row.begins)), None)
