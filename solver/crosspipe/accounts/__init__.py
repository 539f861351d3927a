"""Accounts: why a schedule takes as long as it does, where its devices wait, and why the model is cut as it is."""
