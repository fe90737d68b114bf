"""Our client and the official SDK read the same from every independent server, and from ours."""

from pathlib import Path

import pytest

from clawmarshal.api.opening import opened_ledger
from tests.support.peers import peer
from tests.support.service import configure, serving, settings_of
from tests.support.side_by_side import PEERS, Peer, farthest, ours, theirs


@pytest.mark.parametrize("asked", PEERS, ids=lambda one: one.script)
def test_an_independent_server_tells_both_clients_the_same(asked: Peer) -> None:
    with peer(asked.script, *asked.arguments, environ=asked.environ) as url:
        mine, official = ours(url, asked), theirs(url, asked)
    assert sum(mine.figures["team"].values()) == pytest.approx(1, abs=0.02)
    assert farthest(mine, official) < 1e-9


def test_our_server_tells_both_clients_the_same(tmp_path: Path) -> None:
    config = configure(tmp_path)
    with opened_ledger(settings_of(config)) as ledger:
        key = ledger.create_key("peer", "peer", ["route"])
    asked = Peer("clawmarshal", "jev-latest", key=key)
    with serving("--config", str(config)) as process:
        url = process.address()
        mine, official = ours(url, asked), theirs(url, asked)
    assert mine.model.startswith("clawmarshal-local-")
    assert farthest(mine, official) < 1e-9
