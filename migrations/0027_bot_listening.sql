-- Whether the updates of a bot come to us: a platform has one listener for each, and others may take its place.

alter table bot_feeds
  -- What keeps them from us, by the last look; null for nothing that is known.
  add column problem text check (problem in ('taken_back', 'taken', 'shared', 'unreachable')),
  add column problem_detail text,
  add column problem_at timestamptz,
  -- When somebody last asked the platform where they go; any node does in turn.
  add column looked_at timestamptz,
  -- When somebody else's webhook was last replaced by us.
  add column taken_back_at timestamptz;
