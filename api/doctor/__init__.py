"""Looking at everything a service needs, before it is needed."""
