drop function if exists receipt_moves;

-- Whether a receipt may move a message: forward only, and never one that is still
-- on its way out of here. docs/states.md draws it.
create function receipt_moves(from_status text, to_status text) returns boolean language sql immutable parallel safe as $$
  select case to_status
    when 'sent' then from_status = 'unknown'
    when 'delivered' then from_status in ('sent', 'unknown')
    when 'undelivered' then from_status in ('sent', 'unknown')
    when 'failed' then from_status in ('sent', 'unknown')
    when 'read' then from_status in ('sent', 'unknown', 'delivered')
    else false end
$$;
