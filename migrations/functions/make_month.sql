drop function if exists make_month;

-- Makes a table's partition of the month that contains p_at, UTC, if it is missing.
-- One table in a transaction: with the rows of a month that was made too late, it locks the default partition
-- while they are moved. Who waits for that holds locks on other tables already, which the next step would wait for in turn.
create function make_month(p_table text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_month timestamp := date_trunc('month', p_at at time zone 'UTC');
begin
  perform make_partition(
    p_table, p_table || to_char(v_month, '_YYYY_MM'),
    first_uuid_at(v_month at time zone 'UTC'), first_uuid_at((v_month + interval '1 month') at time zone 'UTC'),
    case p_table
      when 'messages' then 'fillfactor = 60, autovacuum_vacuum_insert_scale_factor = 0.1'
      when 'deliveries' then 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000'
      when 'verifications' then 'fillfactor = 80, autovacuum_vacuum_insert_scale_factor = 0.1'
      when 'bulk_outcomes' then 'fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05'
      else 'fillfactor = 100'
    end,
    case when p_table in ('bulk_rows', 'bulk_outcomes') then 'job_id' else 'id' end);
end $$;
