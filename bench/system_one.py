"""Both sides of System One, judged by strangers: writes ``bench/results/system_one.md``.

Starts every independent server of the extra ``peers`` on loopback, and our own; asks each by our
client and by the official SDK; lets the conformance suite judge each; and plays every named fault
of the suite's mock server to our client. No network beyond loopback.

    python -m bench.system_one
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from clawmarshal.api.opening import opened_ledger
from tests.peers.test_faults import EXPECTED, Expected, outcome
from tests.support.peers import peer
from tests.support.service import configure, serving, settings_of
from tests.support.side_by_side import PEERS, Peer, Reading, farthest, ours, theirs

RESULT = Path(__file__).parent / "results" / "system_one.md"
HEADINGS = (
    "| server | answering model | team: billing, technical, none | our client and the SDK "
    "| MUST | SHOULD |"
)
PACKAGES = {"microllm": "lightpath-microllm"}


def judged(url: str, key: str | None, folder: Path) -> str:
    """Run the conformance suite and count what passed by level."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "jevcompat.cli", "test", url, "--json", str(report)]
    more = ["--key", key] if key else []
    subprocess.run([*command, *more], capture_output=True, timeout=180, check=False)
    found = json.loads(report.read_text(encoding="utf-8"))["results"]
    told = []
    for level in ("MUST", "SHOULD"):
        counts = Counter(one["status"] for one in found if one["level"] == level)
        told.append(f"{counts['pass']} of {counts['pass'] + counts['fail']}")
    return " | ".join(told)


def line(name: str, mine: Reading, official: Reading, suite: str) -> str:
    """Write one server's row."""
    apart = farthest(mine, official)
    shown = ", ".join(f"{share:.3f}" for share in mine.figures["team"].values())
    same = "the same" if apart < 1e-9 else f"{apart:.3g} apart"
    return f"| {name} | `{mine.model}` | {shown} | {same} | {suite} |"


def servers(folder: Path) -> Iterator[str]:
    """Ask and judge every server."""
    for asked in PEERS:
        package = PACKAGES.get(asked.script, asked.script)
        with peer(asked.script, *asked.arguments, environ=asked.environ) as url:
            suite = judged(url, asked.key, folder)
            yield line(f"{package} {version(package)}", ours(url, asked), theirs(url, asked), suite)
    config = configure(folder)
    config.write_text(config.read_text().replace("lexical", "offline"), encoding="utf-8")
    with opened_ledger(settings_of(config)) as ledger:
        key = ledger.create_key("bench", "bench", ["route"])
    asked = Peer("clawmarshal", "jev-latest", key=key)
    with serving("--config", str(config)) as process:
        url = process.address()
        suite = judged(url, key, folder)
        yield line("clawmarshal, offline model", ours(url, asked), theirs(url, asked), suite)


def fault(name: str, case: Expected) -> str:
    """Play one fault, and tell what becomes of the answer in both modes."""
    more = ["--key", case.server_key] if case.server_key else []
    with peer("jevcompat", "--fault", name, *more) as url:
        code, refused, _ = outcome(url, case, strict=False)
        strict, _, _ = outcome(url, case, strict=True)
    parts = [f"{question}: `{why}`" for question, why in refused.items()]
    lenient = f"refused, `{code}`" if code else ", ".join(["taken", *parts])
    return f"| `{name}` | {lenient} | {f'`{strict}`' if strict else 'taken'} | {case.why} |"


def main() -> None:
    """Measure, and write the page."""
    with tempfile.TemporaryDirectory() as named:
        rows = list(servers(Path(named)))
    faults = [fault(name, case) for name, case in EXPECTED.items()]
    suite, kit = version("jevcompat"), version("typesafe-sdk")
    RESULT.write_text(
        f"""# System One, both sides

Made by `python -m bench.system_one` on {datetime.now(UTC).date()}, with jevcompat {suite} and
typesafe-sdk {kit}; everything on loopback. `tests/peers` asserts the same at every run.

## One server, two clients

The same three questions (choice, score, noul) by our client, which validates every answer, and by
the official SDK. "The same": every probability, the score and the model's id are equal. Of the
suite's requirements, those that it exercised are counted. The one of ours that fails does so on
purpose (see [jevcompat.md](jevcompat.md)).

{HEADINGS}
| --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}

## Named faults against our client

{len(faults)} faults of the suite's mock server. "Taken" with a question and a code: the answer
about the agent stands, that question's is refused. Strict mode shows the first refusal of any
question.

| fault | lenient | strict | why |
| --- | --- | --- | --- |
{chr(10).join(faults)}
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
