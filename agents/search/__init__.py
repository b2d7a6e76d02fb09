"""Search: agents that imagine the cards they do not see, and play the deal out for every action they may take."""
