-- 0011_media

-- Uploaded files. A row is written before its file and goes after it: whatever lies in the
-- file store has a row, so that nobody ever lists the store to find what a crash left there.
create table media (
  account_id uuid not null,
  id uuid not null,
  -- storing: its bytes are on their way, and nobody sees it yet;
  -- leaving: nobody sees it any more, and its bytes go before the row does.
  state text not null check (state in ('storing', 'stored', 'leaving')),
  file_name text not null,
  media_type text,
  mimetype text,
  size bigint,
  sha256 bytea,
  -- When it was stored, or last had a use: the time to keep what is of no use runs from here.
  used_at timestamptz not null,
  primary key (account_id, id),
  check (state <> 'stored' or (media_type is not null and mimetype is not null and size > 0 and sha256 is not null))
);
create index media_idle on media (used_at) where state = 'stored';
create index media_unsettled on media (used_at) where state <> 'stored';

-- Messages that carry a file, until they are done. (What templates show stands in
-- templates.header_asset_id.) A platform template's file is the platform's, so the
-- message's account may be another than the file's.
create table media_uses (
  account_id uuid not null,
  asset_id uuid not null,
  message_account_id uuid not null,
  message_id uuid not null,
  primary key (account_id, asset_id, message_id)
);
create index media_uses_message on media_uses (message_id);
