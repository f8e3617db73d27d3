"""What each language says and how its files find each other: one folder a language."""
