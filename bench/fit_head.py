"""Fit the head of the local model on the development files.

    python bench/fit_head.py --data DIR            write router/models/routing.head.json
    python bench/fit_head.py --data DIR --out F    write another file

All rosters are pooled, each with the same weight; for a quarter of the rows, drawn with a fixed
seed, the right agent is taken off the ballot, so that messages near the fleet's work which nobody
owns are learned too. Leave-one-roster-out fits are made by routing.py with the same code.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from corpus import Table, chooser, corpora, tabulate
from logit import block, fit

from clawmarshal.router.models.head import Head, Heads

VERSION = "1"
SEED = 20261130
DROPPED_SHARE = 0.25
L2 = 1e-4
LEXICAL = ("char", "char_unit", "bm25")
ENCODER = ("unit", "unit_mean", "whole", *LEXICAL)
EXAMPLES = ("example", "example_mean", "centre", "any")
NONE = ("bias", "log_n")
FEATURES = {
    "encoder": (ENCODER, NONE),
    "encoder_examples": ((*ENCODER, *EXAMPLES), NONE),
    "lexical": (LEXICAL, NONE),
    "lexical_examples": (LEXICAL, NONE),
}
SHIPPED = Path(__file__).parent.parent / "router" / "models" / "routing.head.json"


def fit_head(tables: Sequence[Table], name: str) -> Head:
    """Fit one head.

    Parameters
    ----------
    tables
        With examples for heads with examples, without for those without.
    name
        As in `FEATURES`.
    """
    option, none = FEATURES[name]
    draw = np.random.default_rng(SEED)
    parts = [
        block(table, option, none, dropped=draw.random(table.gold.size) < DROPPED_SHARE)
        for table in tables
    ]
    weights = [round(float(weight), 4) for weight in fit(parts, l2=L2)]
    split = len(option)
    return Head(
        dict(zip(option, weights[:split], strict=True)), dict(zip(none, weights[split:], strict=True))
    )


def fit_heads(plain: Sequence[Table], shown: Sequence[Table], *, encoder: str) -> Heads:
    """Fit all heads, from tables without and with examples."""
    made = {
        name: fit_head(shown if name.endswith("_examples") else plain, name) for name in FEATURES
    }
    return Heads(VERSION, encoder, made)


def document(heads: Heads, digests: dict[str, str]) -> dict[str, object]:
    """Make the document that is shipped."""
    return {
        "version": heads.version,
        "encoder": heads.encoder,
        "heads": {
            name: {"option": dict(head.option), "none": dict(head.none)}
            for name, head in heads.by_name.items()
        },
        "provenance": {
            "command": "python bench/fit_head.py --data DIR",
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "seed": SEED,
            "dropped_share": DROPPED_SHARE,
            "l2": L2,
            "sha256": digests,
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=SHIPPED, metavar="FILE")
    asked = parser.parse_args(arguments)
    reader = chooser()
    tables = {n: [tabulate(c, reader) for c in corpora(asked.data, examples=n)] for n in (0, 5)}
    heads = fit_heads(tables[0], tables[5], encoder=reader.heads.encoder)
    digests = {k: v for table in tables[5] for k, v in table.corpus.digests.items()}
    asked.out.write_text(json.dumps(document(heads, digests), indent=1) + "\n", "utf-8")
    print(f"wrote {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
