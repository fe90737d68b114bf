"""What the fleet is."""
