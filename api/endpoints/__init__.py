"""One file per group of endpoints: parse, call, answer."""
