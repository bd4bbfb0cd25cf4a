drop function if exists fold_message_deltas;

-- Adds up to p_limit deltas to the totals; returns how many. Concurrent nodes take
-- different rows, and lock the totals in the same order.
create function fold_message_deltas(p_limit integer) returns integer
language plpgsql
as $$
declare
  v_folded integer;
begin
  with gone as (
    delete from message_deltas d
     where d.ctid = any (array(select e.ctid from message_deltas e limit p_limit for update skip locked))
    returning d.*
  ), folded as (
    insert into message_totals as t
      (account_id, live, hour, channel, sent, delivered, undelivered, failed, unknown, cancelled, cost)
      select g.account_id, g.live, g.hour, g.channel, sum(g.sent), sum(g.delivered), sum(g.undelivered), sum(g.failed),
             sum(g.unknown), sum(g.cancelled), sum(g.cost)
        from gone g group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (account_id, live, hour, channel) do update set
      sent = t.sent + excluded.sent, delivered = t.delivered + excluded.delivered,
      undelivered = t.undelivered + excluded.undelivered, failed = t.failed + excluded.failed,
      unknown = t.unknown + excluded.unknown, cancelled = t.cancelled + excluded.cancelled,
      cost = t.cost + excluded.cost
  )
  select count(*) into v_folded from gone;
  return v_folded;
end $$;
