"""What a Gateway says of its agents, with secrets around it that must go nowhere."""

import json
from collections.abc import Mapping
from typing import Any

SECRET = "sk-planted-5f2c9"
ENTRIES: dict[str, dict[str, Any]] = {
    "finance": {
        "name": "Finance",
        "description": "Invoices, bookkeeping, tax deadlines, budgets and portfolio questions.",
        "tools": {"deny": ["*"]},
    },
    "security": {
        "description": "Breach alerts, credential hygiene, suspicious access and phishing reports."
    },
}


def agents_document(*ids: str) -> dict[str, Any]:
    """Return what ``agents.list`` answers."""
    return {"defaultId": ids[0] if ids else None, "agents": [{"id": i} for i in ids]}


def config_document(entries: Mapping[str, object] = ENTRIES, **config: object) -> dict[str, Any]:
    """Return what ``config.get`` answers, with a secret wherever one may stand."""
    told = {
        "agents": {"ownership": "explicit", "entries": dict(entries)},
        "models": {"providers": {"x": {"apiKey": SECRET}}},
        "gateway": {"auth": {"token": SECRET}},
        **config,
    }
    return {"valid": True, "path": f"/home/{SECRET}", "raw": f"token: {SECRET}", "config": told}


def calls(agents: object, config: object) -> dict[str, str]:
    """Return what a scripted CLI does when it is asked for either."""
    return {
        "agents.list": f"print({json.dumps(agents)!r})",
        "config.get": f"print({json.dumps(config)!r}); print({SECRET!r}, file=sys.stderr)",
    }


def known_calls() -> dict[str, str]:
    """Return what a scripted CLI does that knows both agents."""
    return calls(agents_document(*ENTRIES), config_document())
