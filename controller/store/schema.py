"""The tables. Events are the truth; the rest is what the fold of them said, kept for readers that load nothing."""

VERSION = 1
APPLICATION = 0x67726163
"""What tells our file from anybody else's: `grac`."""

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
  run_id TEXT PRIMARY KEY, name TEXT NOT NULL, created_at TEXT NOT NULL, plan_path TEXT NOT NULL,
  plan_digest TEXT NOT NULL, plan TEXT NOT NULL, plan_text BLOB NOT NULL, base_ref TEXT NOT NULL,
  base_commit TEXT NOT NULL, options TEXT NOT NULL, state TEXT NOT NULL, exit INTEGER, note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, at TEXT NOT NULL, type TEXT NOT NULL,
  module TEXT NOT NULL, attempt INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT, inbox TEXT, data TEXT NOT NULL,
  UNIQUE (run_id, action), UNIQUE (run_id, inbox)
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_run ON events (run_id, seq);
CREATE TABLE IF NOT EXISTS actions (
  run_id TEXT NOT NULL, action TEXT NOT NULL, body TEXT NOT NULL, intended INTEGER NOT NULL, outcome INTEGER,
  PRIMARY KEY (run_id, action)
) STRICT;
CREATE TABLE IF NOT EXISTS modules (
  run_id TEXT NOT NULL, module TEXT NOT NULL, place INTEGER NOT NULL, phase TEXT NOT NULL, wave INTEGER NOT NULL,
  state TEXT NOT NULL, attempt INTEGER NOT NULL, waits_for TEXT NOT NULL, head TEXT NOT NULL, commit_id TEXT NOT NULL,
  reverted INTEGER NOT NULL, PRIMARY KEY (run_id, module)
) STRICT;
CREATE TABLE IF NOT EXISTS transitions (
  run_id TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, module TEXT NOT NULL, before TEXT NOT NULL,
  after TEXT NOT NULL, cause TEXT NOT NULL, actor TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS attempts (
  run_id TEXT NOT NULL, module TEXT NOT NULL, attempt INTEGER NOT NULL, packet_id TEXT NOT NULL, packet TEXT NOT NULL,
  packet_yaml TEXT NOT NULL, outcome TEXT, verdict TEXT, commit_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, module, attempt)
) STRICT;
CREATE TABLE IF NOT EXISTS approvals (
  run_id TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL, modules TEXT NOT NULL, asked_at TEXT NOT NULL,
  lapses_at TEXT NOT NULL, state TEXT NOT NULL, actor TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, subject, key)
) STRICT;
CREATE TABLE IF NOT EXISTS inbox (
  id TEXT PRIMARY KEY, run_id TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL, seq INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS saga (
  run_id TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, module TEXT NOT NULL, wave INTEGER NOT NULL,
  phase TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (run_id, n)
) STRICT;
CREATE TABLE IF NOT EXISTS evidence (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
"""
