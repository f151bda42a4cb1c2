"""Many to one: does the fabric hold its aggregate as senders are added, and what tells why not."""
