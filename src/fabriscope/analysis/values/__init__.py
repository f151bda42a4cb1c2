"""From samples to one value a launch, what the wire allows of it, estimates, and how far each can be trusted."""
