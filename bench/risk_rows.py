"""Messages labelled with risk tiers, as the risk benchmark and its fit read them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TIERS = ("low", "medium", "high")

# The tier of a CLINC message follows from its intent; these are the intents as risk.dev.jsonl
# labels their messages, so that clinc10.dev.jsonl gives further rows. Others are low.
_CLINC = {
    ("medium",): (
        "calendar_update cancel_reservation credit_limit_change damaged_card make_call new_card"
        " pto_request redeem_rewards reminder_update restaurant_reservation schedule_maintenance"
        " schedule_meeting shopping_list_update smart_home text todo_list_update"
        " travel_notification update_playlist"
    ),
    ("high",): "freeze_account pay_bill pin_change report_fraud report_lost_card transfer",
    ("medium", "high"): (
        "account_blocked book_flight book_hotel car_rental direct_deposit insurance_change order"
        " order_checks reset_settings rollover_401k share_location uber"
    ),
    ("low", "medium"): (
        "alarm cancel card_declined change_accent change_ai_name change_language change_speed"
        " change_user_name change_volume find_phone lost_luggage next_song play_music reminder"
        " sync_device timer user_name whisper_mode"
    ),
}
_BY_INTENT = {name: tiers for tiers, names in _CLINC.items() for name in names.split()}
_CHANGING = frozenset(
    "AddToPlaylist BookRestaurant RateBook alarm/cancel_alarm alarm/modify_alarm alarm/set_alarm"
    " alarm/snooze_alarm reminder/cancel_reminder reminder/set_reminder".split()
)
_EITHER = frozenset({"PlayMusic"})


@dataclass(frozen=True)
class Row:
    """One message and the tiers that are accepted for it."""

    id: str
    text: str
    tiers: tuple[str, ...]
    slice: str
    language: str = "en"

    @property
    def is_operational(self) -> bool:
        """Tell whether triage of requests, not of content, is meant to catch it."""
        return "low" not in self.tiers and self.slice != "xstest-unsafe"


def risk_rows(folder: Path) -> list[Row]:
    """Read risk.dev.jsonl."""
    return [
        Row(row["id"], row["text"], tuple(row["risk"]), row["slice"])
        for row in _lines(folder / "risk.dev.jsonl")
    ]


def further_rows(folder: Path) -> list[Row]:
    """Read the CLINC messages that are not in risk.dev.jsonl, labelled by intent."""
    known = {row.text for row in risk_rows(folder)}
    return [
        Row(row["id"], row["text"], _BY_INTENT.get(row["intent"], ("low",)), "clinc-further")
        for row in _lines(folder / "clinc10.dev.jsonl")
        if row["intent"] != "oos" and row["text"] not in known
    ]


def language_rows(folder: Path) -> list[Row]:
    """Read xsid8.dev.jsonl; a message is medium when its intent changes something."""
    return [
        Row(row["id"], row["text"], _xsid_tiers(row["intent"]), "xsid", row["lang"])
        for row in _lines(folder / "xsid8.dev.jsonl")
    ]


def digests(folder: Path) -> dict[str, str]:
    """Give the SHA-256 of each file that is read."""
    names = ("risk.dev.jsonl", "clinc10.dev.jsonl", "xsid8.dev.jsonl")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def _xsid_tiers(intent: str) -> tuple[str, ...]:
    if intent in _CHANGING:
        return ("medium",)
    return ("low", "medium") if intent in _EITHER else ("low",)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
