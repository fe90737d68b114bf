"""How people and programs reach us."""
