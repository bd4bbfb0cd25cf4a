drop function if exists receipt_moves;

-- Whether a receipt may change a message's status: only forward, and not while the message is
-- still to be submitted. See docs/states.md.
create function receipt_moves(from_status text, to_status text) returns boolean language sql immutable parallel safe as $$
  select case to_status
    when 'sent' then from_status = 'unknown'
    when 'delivered' then from_status in ('sent', 'unknown')
    when 'undelivered' then from_status in ('sent', 'unknown')
    when 'failed' then from_status in ('sent', 'unknown')
    when 'read' then from_status in ('sent', 'unknown', 'delivered')
    else false end
$$;
