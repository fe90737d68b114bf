#!/usr/bin/env bash
# Rewrites the two lock files from pyproject.toml. Needs uv; run it from the repository's root.
set -euo pipefail
export UV_CUSTOM_COMPILE_COMMAND="requirements/compile.sh"
common=(pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate)
uv "${common[@]}" pyproject.toml requirements/build.in --extra offline -o requirements/run.txt "$@"
uv "${common[@]}" pyproject.toml requirements/build.in --extra offline --extra onnx --extra model2vec --extra postgres --group dev --group peers -c requirements/run.txt -o requirements/dev.txt "$@"
