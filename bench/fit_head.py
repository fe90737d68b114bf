"""Fit the head of the local model on the development files.

    python bench/fit_head.py --data DIR            write router/models/routing.head.json
    python bench/fit_head.py --data DIR --out F    write another file

Rosters are pooled, each with the same weight, half of it on the roster as it stands and half on
episodes made from it (episodes.py). A quarter of each row's weight is on the same ballot without
the right agent, so that messages near the fleet's work which nobody owns are learned too; the bias
of none is then moved to the share of such messages expected in use.
Leave-one-roster-out fits are made by routing.py with the same code.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from corpus import Tabulator, corpora, default_encoder
from episodes import episodes
from logit import Block, blocks, expecting, fit, rescaled

from clawmarshal.router.models.head import ELSEWHERE, Head, Heads

VERSION = "2"
SEED = 20261130
DROPPED_SHARE = 0.25
NONE_SHARE = {"encoder": 0.16, "lexical": 0.12}
"""Of messages that belong to nobody. Words alone cannot tell them well: a larger share would
hold most of what they get right."""
L2 = 1e-4
L2_EXAMPLES = 1e-3
"""With an encoder: its eleven features overlap. The size of the weights is then fitted anew."""
EXAMPLES = 5
LEXICAL = ("char", "char_unit", "bm25")
ENCODER = ("unit_out", "unit_mean", "whole_out", "char", "char_unit")
SHOWN = ("example", "example_mean", "centre", "any_out")
NONE = ("bias", "log_n")
FEATURES = {
    "encoder": ENCODER,
    "encoder_examples": (*ENCODER, "bm25", *SHOWN),
    "lexical": LEXICAL,
    "lexical_examples": LEXICAL,
}
SHIPPED = Path(__file__).parent.parent / "router" / "models" / "routing.head.json"


class Study:
    """Fit heads on chosen rosters of the development files.

    Parameters
    ----------
    folder
        Where the files are.
    tabulator
        What computes features.
    """

    def __init__(self, folder: Path, tabulator: Tabulator) -> None:
        self._tabulator = tabulator
        self.full = {c.name: c for c in corpora(folder, examples=100)}
        self.corpora = {
            (c.name, count): c for count in (0, EXAMPLES) for c in corpora(folder, examples=count)
        }
        self._episodes = {
            (name, count): list(episodes(self.full[name], examples=count, seed=SEED))
            for name, count in self.corpora
        }

    def heads(self, names: Sequence[str]) -> Heads:
        """Fit every head on these rosters."""
        encoder = self._tabulator.encoder
        plain = [self.corpora[name, 0] for name in names]
        background = self._tabulator.background(plain)
        kinds = [name for name in FEATURES if encoder or name.startswith("lexical")]
        made = {kind: self._head(names, kind, background) for kind in kinds}
        name = encoder.name if encoder else ""
        return Heads(VERSION, name, made, tuple(background), self._tabulator.topics)

    def _head(self, names: Sequence[str], kind: str, background: Sequence[float]) -> Head:
        option = FEATURES[kind]
        none = NONE if kind.startswith("lexical") else (*NONE, ELSEWHERE)
        parts: list[Block] = []
        for name in names:
            key = (name, EXAMPLES if kind.endswith("_examples") else 0)
            made = self._episodes[key]
            shares = [0.5] + [0.5 / len(made)] * len(made)
            for corpus, share in zip([self.corpora[key], *made], shares, strict=True):
                table = self._tabulator.table(corpus, background)
                both = blocks(table, option, none, dropped_share=DROPPED_SHARE)
                parts += [replace(part, weight=part.weight * share) for part in both]
        is_strong = kind == "encoder_examples"
        weights = fit(parts, l2=L2_EXAMPLES if is_strong else L2)
        weights = rescaled(weights, parts) if is_strong else weights
        weights = expecting(
            weights, parts, place=len(option), share=NONE_SHARE[kind.partition("_")[0]]
        )
        rounded = [round(float(weight), 4) for weight in weights]
        return Head(
            dict(zip(option, rounded, strict=False)),
            dict(zip(none, rounded[len(option) :], strict=True)),
        )


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
            "none_share": NONE_SHARE,
            "l2": L2,
            "l2_encoder_examples": L2_EXAMPLES,
            "sha256": digests,
        },
        "topics": list(heads.topics),
        "background": list(heads.background),
    }


def written(made: dict[str, object]) -> str:
    """Write a document with its vector on one line."""
    text = json.dumps({**made, "background": []}, indent=1)
    return (
        text.replace('"background": []', f'"background": {json.dumps(made["background"])}') + "\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=SHIPPED, metavar="FILE")
    asked = parser.parse_args(arguments)
    study = Study(asked.data, Tabulator(default_encoder()))
    heads = study.heads(list(study.full))
    digests = {k: v for corpus in study.full.values() for k, v in corpus.digests.items()}
    asked.out.write_text(written(document(heads, digests)), "utf-8")
    print(f"wrote {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
